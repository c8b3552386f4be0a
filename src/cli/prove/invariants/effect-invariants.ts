import { type Invariant, isEvent } from "../invariant.ts";

/** Every message that was acknowledged is in the outbox once. */
export const singleMessages: Invariant = effectOnce("notify", "message");

/** Every write that was acknowledged has arrived at the provider once; one without an outcome at most once. */
export const singleArrivals: Invariant = effectOnce("execute", "arrival");

function effectOnce(operation: string, effect: string): Invariant {
  return {
    subjectOf: (event) =>
      isEvent(event, "acknowledged", operation) || isEvent(event, "observed", effect) ? event.subject : undefined,
    contradictionIn(events) {
      const isAcknowledged = events.some(({ kind }) => kind === "acknowledged");
      const effects = new Set(events.flatMap(({ kind, facts }) => (kind === "observed" ? [facts[effect]] : [])));
      if (effects.has("absent")) return isAcknowledged ? `The ${effect} was acknowledged, and is absent.` : undefined;
      return effects.size > 1 ? `The ${effect} exists ${effects.size} times.` : undefined;
    },
  };
}

/** A unit gets the same variant from every node at every time. */
export const stickyVariants: Invariant = {
  subjectOf: (event) => (isEvent(event, "acknowledged", "assign") ? event.subject : undefined),
  contradictionIn(events) {
    const variants = new Set(events.map(({ facts }) => facts.variant));
    return variants.size > 1 ? `The unit got ${variants.size} variants.` : undefined;
  },
};

/** A record of another tenant does not exist for a caller. */
export const separateTenants: Invariant = {
  subjectOf: (event) => (isEvent(event, "observed", "foreign read") ? event.subject : undefined),
  contradictionIn: (events) =>
    events.some(({ facts }) => facts.answer === "given") ? "A record of another tenant was given." : undefined,
};
