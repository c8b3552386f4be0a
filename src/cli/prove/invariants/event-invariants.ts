import { type Invariant, isEvent } from "../invariant.ts";

/** A follower of the log gets every event that was acknowledged once, and those of a publisher in their order. */
export const orderedEvents: Invariant = {
  subjectOf: (event) =>
    isEvent(event, "acknowledged", "publish") || isEvent(event, "observed", "event") ? event.subject : undefined,
  contradictionIn(events) {
    const places = new Map<number, number>();
    const absent = new Set<number>();
    for (const { kind, facts } of events) {
      const [number, position] = [Number(facts.number), Number(facts.position)];
      if (kind !== "observed") continue;
      if (position === 0) absent.add(number);
      else if (places.has(number)) return `Event ${number} arrived twice.`;
      else places.set(number, position);
    }
    const lost = events.find(({ kind, facts }) => kind === "acknowledged" && absent.has(Number(facts.number)));
    if (lost !== undefined) return `Event ${lost.facts.number} was acknowledged, and never arrived.`;
    // A publisher waits for each answer before it publishes again.
    const inOrder = [...places].sort(([one], [other]) => one - other);
    const late = inOrder.find(([, position], at) => at > 0 && position < inOrder[at - 1]![1]);
    return late && `Event ${late[0]} arrived before one that was published earlier.`;
  },
};
