import { createHash } from "node:crypto";
import type { Schedule } from "../trigger.ts";
import { type CronRefusal, type CronTimes, readCron } from "./cron-times.ts";

/** A time of a schedule that has come, and the time after it. */
export interface DueTime {
  /** The time to start a run for; undefined if all times that have come are too old. */
  readonly timeMs: number | undefined;
  /** A time that is too old to start a run for. */
  readonly missedMs: number | undefined;
  readonly nextMs: number | undefined;
}

/** Reads the times of a schedule, limited to its start and end. */
export function readSchedule(schedule: Schedule): CronTimes | CronRefusal {
  const times = readCron(schedule.cron, schedule.timezone);
  if ("field" in times) return times;
  const { startAtMs = Number.NEGATIVE_INFINITY, endAtMs = Number.POSITIVE_INFINITY } = schedule;
  const after = (afterMs: number) => {
    const next = times.after(Math.max(afterMs, startAtMs - 1));
    return next === undefined || next > endAtMs ? undefined : next;
  };
  const latest = (atMs: number, fromMs: number) => times.latest(Math.min(atMs, endAtMs), Math.max(fromMs, startAtMs));
  return { after, latest };
}

/** How long the starts of a trigger are delayed. */
export function jitterMs(triggerId: string, { jitterS }: Pick<Schedule, "jitterS">): number {
  return Math.floor(fractionOf(triggerId) * jitterS * 1000);
}

/**
 * Decides what to do when the next time of a schedule has come. Of several times that were missed, only the last one counts.
 * `nextMs` is the first time that was not handled.
 */
export function decideDueTime(
  triggerId: string,
  schedule: Schedule,
  times: CronTimes,
  nextMs: number,
  nowMs: number,
): DueTime {
  // Times are compared without jitter, so that it neither merges nor drops times.
  const reachedMs = nowMs - jitterMs(triggerId, schedule);
  const timeMs = times.latest(reachedMs, nextMs) ?? nextMs;
  const isLate = reachedMs - timeMs > schedule.catchUpS * 1000;
  return {
    timeMs: isLate ? undefined : timeMs,
    missedMs: isLate ? timeMs : undefined,
    nextMs: times.after(Math.max(reachedMs, timeMs)),
  };
}

/** A number from 0 to 1 (exclusive) that depends only on a text. */
function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
