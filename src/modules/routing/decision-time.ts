import type { EventLoopShares, Turns } from "../../platform/scheduling/index.ts";
import type { SlicedDecision } from "./domain/decide.ts";
import type { Decision } from "./domain/decision.ts";

/** What one call, or one round in the background, may spend on its decisions. */
export interface DecisionTime {
  readonly turns: Turns;
  /** From then on decisions are left to the background, by `performance.now()`. */
  readonly deferAfterMs: number;
}

/** How long a call may take to decide, however many items it has. What is left then is decided in the background. */
const callMsMax = 2000;

/** The time of one call. */
export function timeOfCall(shares: EventLoopShares, tenantId: string): DecisionTime {
  return { turns: shares.forCall(tenantId), deferAfterMs: performance.now() + callMsMax };
}

/** The time of background work: it waits for its slices as long as it takes. */
export function timeInBackground(shares: EventLoopShares, tenantId: string): DecisionTime {
  return { turns: shares.forBackground(tenantId), deferAfterMs: Number.POSITIVE_INFINITY };
}

/**
 * Makes a decision, at once where the current slice has room for it. `then` runs in the same slice: nobody decides in between.
 */
export function decideInTime<T>(
  pending: SlicedDecision,
  time: DecisionTime,
  then: (decision: Decision) => T | Promise<T>,
): T | Promise<T> {
  const { turns, deferAfterMs } = time;
  if (performance.now() >= deferAfterMs) return then(pending.defer());
  const decision = turns.isOver() ? undefined : pending.proceed(turns.isOver);
  return decision === undefined ? decideInSlices(pending, time, then) : then(decision);
}

async function decideInSlices<T>(
  pending: SlicedDecision,
  { turns, deferAfterMs }: DecisionTime,
  then: (decision: Decision) => T | Promise<T>,
): Promise<T> {
  for (;;) {
    if (performance.now() >= deferAfterMs) return then(pending.defer());
    await turns.next();
    const decision = pending.proceed(turns.isOver);
    if (decision !== undefined) return then(decision);
  }
}
