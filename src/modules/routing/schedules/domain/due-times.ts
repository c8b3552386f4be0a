import { type CronTimes, decideDueTime, jitterMs, listTimes } from "../../../../platform/cron/index.ts";
import type { Timing } from "./schedule.ts";

/** The times of a schedule that have come, and the first time after them. */
export interface DueTimes {
  /** The times to fire for, oldest first. */
  readonly timesMs: readonly number[];
  /** The last of the times that are too old to fire for. */
  readonly missedMs: number | undefined;
  readonly nextMs: number | undefined;
}

/** The number of missed times that are handled at once. The others follow. */
const catchUpMax = 50;

/**
 * Decides what to do when the next time of a schedule has come. `nextMs` is the first time that was not handled. Times are
 * compared without jitter, so that it neither merges nor drops times.
 */
export function decideDueTimes(id: string, timing: Timing, times: CronTimes, nextMs: number, nowMs: number): DueTimes {
  if (timing.catchUp === "latest") {
    const { timeMs, ...rest } = decideDueTime(id, timing, times, nextMs, nowMs);
    return { ...rest, timesMs: timeMs === undefined ? [] : [timeMs] };
  }
  const reachedMs = nowMs - jitterMs(id, timing);
  const oldestMs = reachedMs - timing.catchUpS * 1000;
  const timesMs = listTimes(times, Math.max(nextMs, oldestMs) - 1, catchUpMax).filter((each) => each <= reachedMs);
  const missedMs = nextMs < oldestMs ? times.latest(oldestMs - 1, nextMs) : undefined;
  return { timesMs, missedMs, nextMs: times.after(timesMs.at(-1) ?? reachedMs) };
}
