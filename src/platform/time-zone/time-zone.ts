import { BoundedCache } from "../cache/bounded-cache.ts";

const zonesMax = 200;
const dayMs = 86_400_000;
const spanMs = 15 * 60_000;

/** The local time of a time zone. A wall-clock time is given as the UTC milliseconds with the same date and time. */
export interface TimeZone {
  /** The difference between local time and UTC at an instant. */
  offsetMs(atMs: number): number;
  /**
   * The instant of a wall-clock time. A time that occurs twice is its first occurrence. A time that does not exist is the
   * instant at which the clock was moved forward.
   */
  instantOf(wallMs: number): number;
  /** The first instant after `fromMs`, up to `toMs`, with another offset than at `fromMs`. The offset at `toMs` is another one. */
  transitionBetween(fromMs: number, toMs: number): number;
}

// A format is slow to create and takes about 100 KB, so a bounded number of zones is kept.
const zones = new BoundedCache<string, TimeZone>(zonesMax);

/** Finds a time zone by its IANA name; undefined if there is none. `beforeCreate` runs unless the zone is cached. */
export function findTimeZone(name: string, beforeCreate = () => {}): TimeZone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  beforeCreate();
  const format = createFormat(name);
  if (format === undefined) return undefined;
  const zone = createTimeZone(cacheOffset((atMs) => readWallClock(format, atMs) - atMs));
  zones.set(name, zone);
  return zone;
}

/**
 * Caches the offset of the last quarter of an hour, in which many decisions fall. Clocks are never moved twice within
 * it, so an offset that is the same at both ends is the same throughout.
 */
function cacheOffset(readOffset: (atMs: number) => number): (atMs: number) => number {
  let cachedMs = Number.NaN;
  let offset = 0;
  return (atMs) => {
    const startMs = Math.floor(atMs / spanMs) * spanMs;
    if (startMs === cachedMs) return offset;
    const start = readOffset(startMs);
    if (start !== readOffset(startMs + spanMs)) return readOffset(atMs);
    cachedMs = startMs;
    offset = start;
    return offset;
  };
}

function createTimeZone(offsetMs: (atMs: number) => number): TimeZone {
  function transitionBetween(fromMs: number, toMs: number): number {
    const before = offsetMs(fromMs);
    let [low, high] = [fromMs, toMs];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetMs(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }

  return {
    offsetMs,
    transitionBetween,
    instantOf(wallMs) {
      // Offsets are at most 14 hours, so a day before and a day after are on either side of every candidate.
      const before = offsetMs(wallMs - dayMs);
      const after = offsetMs(wallMs + dayMs);
      const [early, late] = [wallMs - before, wallMs - after];
      if (before === after || offsetMs(early) === before) return early;
      if (offsetMs(late) === after) return late;
      return transitionBetween(late, early);
    },
  };
}

function createFormat(name: string): Intl.DateTimeFormat | undefined {
  // Offsets such as +02:00 are accepted by Intl, but they are no time zones with rules.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
}

function readWallClock(format: Intl.DateTimeFormat, atMs: number): number {
  const shown = new Map<string, number>();
  for (const part of format.formatToParts(atMs)) shown.set(part.type, Number(part.value));
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for those of the 20th century.
  date.setUTCFullYear(shown.get("year")!, shown.get("month")! - 1, shown.get("day"));
  date.setUTCHours(shown.get("hour")!, shown.get("minute"), shown.get("second"));
  return date.getTime() + (((atMs % 1000) + 1000) % 1000);
}
