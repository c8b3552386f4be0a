import type { HistoryEvent } from "../history.ts";
import { type Invariant, isEvent } from "../invariant.ts";

/** Every item that was acknowledged is completed in the end. */
export const keptItems: Invariant = {
  subjectOf: (event) =>
    isEvent(event, "acknowledged", "route") || isEvent(event, "observed", "item") ? event.subject : undefined,
  contradictionIn(events) {
    const route = events.find(({ kind }) => kind === "acknowledged");
    const end = events.find(({ kind, facts }) => kind === "observed" && facts.item === route?.facts.item);
    if (route === undefined || end === undefined || end.facts.state === "completed") return undefined;
    return `The item was acknowledged, and is ${end.facts.state} in the end.`;
  },
};

/** A key that was routed once, however often the call was repeated, has one item. */
export const singleItems: Invariant = {
  subjectOf: keptItems.subjectOf,
  contradictionIn(events) {
    const items = new Set(events.filter(({ facts }) => facts.state !== "absent").map(({ facts }) => facts.item));
    return items.size > 1 ? `One routed item exists ${items.size} times.` : undefined;
  },
};

/** An item is completed under one lease. */
export const singleCompletions: Invariant = {
  subjectOf: (event) => (isEvent(event, "acknowledged", "complete") ? event.subject : undefined),
  contradictionIn(events) {
    const attempts = new Set(events.map(({ facts }) => facts.attempt));
    return attempts.size > 1 ? `The item was completed under ${attempts.size} leases.` : undefined;
  },
};

/** Two workers never hold a lease of the same item at the same time. */
export const exclusiveLeases: Invariant = {
  subjectOf: (event) => (isEvent(event, "held", "lease") ? event.subject : undefined),
  contradictionIn: (events) =>
    mostAtOnce(events) > 1 ? "Two workers held a lease of the item at the same time." : undefined,
};

/** A report under an earlier lease is refused once another worker has the item. */
export const fences: Invariant = {
  subjectOf: (event) =>
    isEvent(event, "held", "lease") ||
    isEvent(event, "acknowledged", "complete", "fail") ||
    isEvent(event, "refused", "complete", "fail")
      ? event.subject
      : undefined,
  countTests: (events) => lateReports(events).length,
  contradictionIn(events) {
    const late = lateReports(events).find(({ kind }) => kind === "acknowledged");
    return (
      late && `The report under lease ${late.facts.attempt} was accepted after another worker had leased the item.`
    );
  },
};

/** The reports under an earlier lease, accepted or refused, after another worker had leased the item. */
function lateReports(events: readonly HistoryEvent[]): HistoryEvent[] {
  const holds = events.filter(({ kind }) => kind === "held");
  return events.filter(
    (report) =>
      report.kind !== "held" &&
      holds.some(({ startMs, facts }) => facts.attempt! > report.facts.attempt! && startMs < report.startMs),
  );
}

/** A recipient never holds more items than its capacity. */
export const capacities: Invariant = limitOf("recipient", "capacity");

/** A group never has more leased items than its limit. */
export const concurrency: Invariant = limitOf("group", "limit");

function limitOf(holder: "recipient" | "group", limit: "capacity" | "limit"): Invariant {
  return {
    subjectOf: ({ kind, facts }) =>
      kind === "held" && facts[limit] !== undefined ? `${holder} ${facts[holder]}` : undefined,
    contradictionIn(events) {
      const most = mostAtOnce(events);
      return most > Number(events[0]?.facts[limit]) ? `${most} items were leased at the same time.` : undefined;
    },
  };
}

/** The largest number of holds at one time. */
function mostAtOnce(holds: readonly HistoryEvent[]): number {
  const changes = holds.flatMap(({ startMs, endMs }) => [
    { atMs: startMs, by: 1 },
    { atMs: endMs, by: -1 },
  ]);
  // An end and a start at the same time do not overlap.
  changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let now = 0;
  let most = 0;
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
