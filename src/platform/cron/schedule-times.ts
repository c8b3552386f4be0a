import { createHash } from "node:crypto";
import { type CronRefusal, type CronTimes, readCron } from "./cron-times.ts";

/** The times of a schedule. Times are UTC milliseconds. */
export interface ScheduleTimes {
  readonly cron: string;
  /** An IANA time zone. */
  readonly timezone: string;
  /** All firings are delayed by the same part of this time. */
  readonly jitterS: number;
  readonly startAtMs?: number | undefined;
  readonly endAtMs?: number | undefined;
  /** How late a missed time may still fire. */
  readonly catchUpS: number;
}

/** A time of a schedule that has come, and the time after it. */
export interface DueTime {
  /** The time to fire for; undefined if all times that have come are too old. */
  readonly timeMs: number | undefined;
  /** A time that is too old to fire for. */
  readonly missedMs: number | undefined;
  readonly nextMs: number | undefined;
}

/** Reads the times of a schedule, limited to its start and end. */
export function readSchedule(schedule: ScheduleTimes): CronTimes | CronRefusal {
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

/** The first times of a schedule after an instant. */
export function listTimes({ after }: Pick<CronTimes, "after">, afterMs: number, count: number): number[] {
  const found: number[] = [];
  for (let at = after(afterMs); at !== undefined && found.length < count; at = after(at)) found.push(at);
  return found;
}

/** How long the firings of a schedule are delayed. It depends only on the id and the schedule. */
export function jitterMs(id: string, { jitterS }: Pick<ScheduleTimes, "jitterS">): number {
  return Math.floor(fractionOf(id) * jitterS * 1000);
}

/**
 * Decides what to do when the next time of a schedule has come. Of several times that were missed, only the last one counts.
 * `nextMs` is the first time that was not handled.
 */
export function decideDueTime(
  id: string,
  schedule: ScheduleTimes,
  times: CronTimes,
  nextMs: number,
  nowMs: number,
): DueTime {
  // Times are compared without jitter, so that it neither merges nor drops times.
  const reachedMs = nowMs - jitterMs(id, schedule);
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
