import { Cron } from "croner";
import { findTimeZone, type TimeZone } from "../time-zone/time-zone.ts";

/** The times of a cron expression in a time zone. */
export interface CronTimes {
  /** The first time after an instant; undefined if there is none. */
  after(afterMs: number): number | undefined;
  /** The last time at or before an instant and not before `fromMs`; undefined if there is none. */
  latest(atMs: number, fromMs: number): number | undefined;
}

/** Why a cron expression or a time zone cannot be used. */
export interface CronRefusal {
  readonly field: "cron" | "timezone";
  readonly message: string;
}

const secondMs = 1000;
const hourMs = 3_600_000;

/**
 * Reads a cron expression. The library finds the matching dates and times of a calendar without time zones. What happens
 * when clocks are moved is decided here:
 *
 * An expression for certain hours runs once at each of its local times: at the first occurrence of a time that occurs
 * twice, and right after the gap for a time that does not exist. An expression for every hour runs by elapsed time, so it
 * neither pauses for an hour nor runs twice in a moment.
 */
export function readCron(cron: string, timezone: string): CronTimes | CronRefusal {
  const zone = findTimeZone(timezone);
  if (zone === undefined) {
    return { field: "timezone", message: "must be an IANA time zone (for example: Europe/Berlin)" };
  }
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6) {
    return { field: "cron", message: "must have five fields, or six with seconds first (for example: 30 2 * * *)" };
  }
  try {
    const pattern = createPattern(cron.trim());
    // A pattern without any match is searched for through all years, so it is refused once instead of searched for again.
    if (pattern.nextRun(new Date(0)) === null) return { field: "cron", message: "must match a date that exists" };
    const nextMatch = (wallMs: number) => pattern.nextRun(new Date(wallMs))?.getTime();
    const after = isEveryHour(fields.at(-4)!) ? elapsedTimes(zone, nextMatch) : localTimes(zone, nextMatch);
    return { after, latest: (atMs, fromMs) => findLatest(after, atMs, fromMs) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern:\s*/, "") : String(error);
    return { field: "cron", message: `must be a cron expression: ${reason}` };
  }
}

/** The first match after a wall-clock time. */
type NextMatch = (wallMs: number) => number | undefined;

/** Each local time once. */
function localTimes(zone: TimeZone, nextMatch: NextMatch): CronTimes["after"] {
  return (afterMs) => {
    let wallMs = nextMatch(afterMs + zone.offsetMs(afterMs));
    while (wallMs !== undefined) {
      const atMs = zone.instantOf(wallMs);
      // In the second pass of a repeated hour, the first occurrences are in the past.
      if (atMs > afterMs) return atMs;
      wallMs = nextMatch(wallMs);
    }
    return undefined;
  };
}

/** Each instant whose local time matches, in both passes of a repeated hour. */
function elapsedTimes(zone: TimeZone, nextMatch: NextMatch): CronTimes["after"] {
  return (afterMs) => {
    for (let fromMs = afterMs; ; ) {
      const offsetMs = zone.offsetMs(fromMs);
      const wallMs = nextMatch(fromMs + offsetMs);
      if (wallMs === undefined) return undefined;
      const atMs = wallMs - offsetMs;
      if (zone.offsetMs(atMs) === offsetMs) return atMs;
      const movedMs = zone.transitionBetween(fromMs, atMs);
      const movedWallMs = movedMs + zone.offsetMs(movedMs);
      if (nextMatch(movedWallMs - secondMs) === movedWallMs) return movedMs;
      fromMs = movedMs;
    }
  };
}

/** Bisects the range, so that few times are read for dense and for sparse expressions. */
function findLatest(after: CronTimes["after"], atMs: number, fromMs: number): number | undefined {
  let latest: number | undefined;
  let low = fromMs - 1;
  let high = atMs;
  while (low < high) {
    const middle = latest === undefined ? low : low + Math.floor((high - low) / 2);
    const next = after(middle);
    if (next !== undefined && next <= atMs) {
      latest = next;
      low = next;
    } else if (latest === undefined) return undefined;
    else high = middle;
  }
  return latest;
}

function createPattern(cron: string): Cron {
  // 30 times faster than the time zone "UTC", which the library converts with Intl.
  return new Cron(cron, { utcOffset: 0, paused: true });
}

/** Whether the hour field matches all hours of a day. */
function isEveryHour(hours: string): boolean {
  return createPattern(`0 0 ${hours} * * *`).nextRuns(24, new Date(-secondMs)).at(-1)?.getTime() === 23 * hourMs;
}
