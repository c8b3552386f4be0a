import type { EventLoopShares, TimeSlices } from "../../../../platform/scheduling/index.ts";
import type { Decision } from "../domain/decision.ts";
import type { SlicedDecision } from "../domain/decision-engine.ts";

/** What one call, or one round in the background, spends on its decisions. */
export interface DecisionTime {
  readonly turns: TimeSlices;
  /** What decisions took so far. */
  spentMs: number;
  /** How long they waited for slices. */
  waitedMs: number;
  /** Whether there is none left: what is not decided yet is decided in the background. */
  isUp(): boolean;
}

/** What a call may spend on decisions, however many items it has. */
const spentMsMax = 300;
/** How long the decisions of a call may wait for slices while other calls of the tenant have theirs. */
const waitedMsMax = 5000;

/** The time of one call. */
export function timeOfCall(shares: EventLoopShares, tenantId: string): DecisionTime {
  return {
    turns: shares.forCall(tenantId),
    spentMs: 0,
    waitedMs: 0,
    isUp() {
      return this.spentMs >= spentMsMax || this.waitedMs >= waitedMsMax;
    },
  };
}

/** The time of background work: it waits for its slices as long as it takes. */
export function timeInBackground(shares: EventLoopShares, tenantId: string): DecisionTime {
  return { turns: shares.forBackground(tenantId), spentMs: 0, waitedMs: 0, isUp: () => false };
}

/**
 * Makes a decision, at once where the current slice has room for it. `then` runs in the same slice: nobody decides in between.
 */
export function decideInTime<T>(
  pending: SlicedDecision,
  time: DecisionTime,
  then: (decision: Decision) => T | Promise<T>,
): T | Promise<T> {
  if (time.isUp()) return then(pending.defer());
  const decision = time.turns.isOver() ? undefined : proceed(pending, time);
  return decision === undefined ? decideInSlices(pending, time, then) : then(decision);
}

/** Does further work of a call, such as the evaluation of keys: in the current slice, or in the next one where that is over. */
export function runInTime<T>(time: DecisionTime, work: () => T): T | Promise<T> {
  const run = () => {
    const startedAtMs = performance.now();
    try {
      return work();
    } finally {
      time.spentMs += performance.now() - startedAtMs;
    }
  };
  return time.turns.isOver() ? time.turns.next().then(run) : run();
}

async function decideInSlices<T>(
  pending: SlicedDecision,
  time: DecisionTime,
  then: (decision: Decision) => T | Promise<T>,
): Promise<T> {
  for (;;) {
    if (time.isUp()) return then(pending.defer());
    const askedAtMs = performance.now();
    await time.turns.next();
    time.waitedMs += performance.now() - askedAtMs;
    const decision = proceed(pending, time);
    if (decision !== undefined) return then(decision);
  }
}

function proceed(pending: SlicedDecision, time: DecisionTime): Decision | undefined {
  const startedAtMs = performance.now();
  const decision = pending.proceed(time.turns.isOver);
  time.spentMs += performance.now() - startedAtMs;
  return decision;
}
