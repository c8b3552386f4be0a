import type { TimeSlices } from "./event-loop-scheduler.ts";

/** Runs work that yields between its steps, in slices of the event loop. A signal ends it between two slices. */
export async function runInSlices<T>(work: Generator<void, T>, slices: TimeSlices, signal?: AbortSignal): Promise<T> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (!slices.isOver()) continue;
    await slices.next();
    signal?.throwIfAborted();
  }
}

/** Runs work that yields between its steps without a pause, because it is known to be short. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}
