import type { EventLoopScheduler, TimeSlices } from "../../../../platform/event-loop/index.ts";

/** Work that runs in slices of the event loop, such as a decision. */
interface SlicedWork<R> {
  /** Continues; undefined if the slice ended before the work did. */
  proceed(sliceIsOver: () => boolean): R | undefined;
  /** The result of work for which there is no time. */
  defer(): R;
}

/** The time that one call, or one background run, spends on decisions. */
export interface DecisionBudget {
  readonly slices: TimeSlices;
  /** Time spent on decisions so far. */
  spentMs: number;
  /** Time spent waiting for slices. */
  waitedMs: number;
  /** Whether the budget is used up; the remaining items are then decided in the background. */
  isExhausted(): boolean;
}

/** The decision time of one call, regardless of its number of items. */
const spentMsMax = 300;
/** The maximum time that a call's decisions wait for slices while other calls of the tenant run. */
const waitedMsMax = 5000;

export function createCallBudget(shares: EventLoopScheduler, tenantId: string): DecisionBudget {
  return {
    slices: shares.forCall(tenantId),
    spentMs: 0,
    waitedMs: 0,
    isExhausted() {
      return this.spentMs >= spentMsMax || this.waitedMs >= waitedMsMax;
    },
  };
}

/** Creates the budget of background work, which is never exhausted. */
export function createBackgroundBudget(shares: EventLoopScheduler, tenantId: string): DecisionBudget {
  return { slices: shares.forBackground(tenantId), spentMs: 0, waitedMs: 0, isExhausted: () => false };
}

/**
 * Makes a decision, synchronously if the current slice has time left. `then` runs in the same slice, so no other decision
 * comes in between.
 */
export function decideWithinBudget<R, T>(
  pending: SlicedWork<R>,
  budget: DecisionBudget,
  then: (decision: R) => T | Promise<T>,
): T | Promise<T> {
  if (budget.isExhausted()) return then(pending.defer());
  const decision = budget.slices.isOver() ? undefined : proceed(pending, budget);
  return decision === undefined ? decideInSlices(pending, budget, then) : then(decision);
}

/** Runs other work of a call, such as the evaluation of keys, in the current slice or in the next one if it is over. */
export function runWithinBudget<T>(budget: DecisionBudget, work: () => T): T | Promise<T> {
  const run = () => {
    const startedAtMs = performance.now();
    try {
      return work();
    } finally {
      budget.spentMs += performance.now() - startedAtMs;
    }
  };
  return budget.slices.isOver() ? budget.slices.next().then(run) : run();
}

async function decideInSlices<R, T>(
  pending: SlicedWork<R>,
  budget: DecisionBudget,
  then: (decision: R) => T | Promise<T>,
): Promise<T> {
  for (;;) {
    if (budget.isExhausted()) return then(pending.defer());
    const waitStartMs = performance.now();
    await budget.slices.next();
    budget.waitedMs += performance.now() - waitStartMs;
    const decision = proceed(pending, budget);
    if (decision !== undefined) return then(decision);
  }
}

function proceed<R>(pending: SlicedWork<R>, budget: DecisionBudget): R | undefined {
  const startedAtMs = performance.now();
  const decision = pending.proceed(budget.slices.isOver);
  budget.spentMs += performance.now() - startedAtMs;
  return decision;
}
