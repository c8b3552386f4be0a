import type { Day } from "./settings.ts";

/** The days of the week in JavaScript's order. */
export const weekDays: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

export const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** Local day and time. */
export interface WallClock {
  /** 0 is Sunday. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

/** The minutes since midnight of a time such as 22:00. */
export function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** Whether a text is the name of a time zone. */
export function isTimezone(text: string): boolean {
  // Intl also accepts offsets such as +02:00, but those have no daylight saving time.
  return /^[A-Za-z]/.test(text) && clockOf(text) !== undefined;
}

/** A zone's formatter and its last result, which is cached because many decisions fall in the same minute. */
interface ZoneClock {
  readonly format: Intl.DateTimeFormat;
  epochMinute: number;
  shown: WallClock;
}

// A formatter is slow to create and takes a few hundred kilobytes.
const zonesMax = 200;
const clocks = new Map<string, ZoneClock>();

function clockOf(zone: string): ZoneClock | undefined {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
    if (clocks.size >= zonesMax) clocks.delete(clocks.keys().next().value!);
    const clock = { format, epochMinute: Number.NaN, shown: { day: 0, minute: 0 } };
    clocks.set(zone, clock);
    return clock;
  } catch {
    return undefined;
  }
}

/** The local day and time in a zone. */
export function wallClock(zone: string, nowMs: number): WallClock {
  // Zones are checked when they are stored. One that the zone tables have since dropped falls back to UTC.
  const clock = clockOf(zone) ?? clockOf("UTC")!;
  const epochMinute = Math.floor(nowMs / minuteMs);
  if (clock.epochMinute !== epochMinute) {
    clock.shown = read(clock.format, epochMinute * minuteMs);
    clock.epochMinute = epochMinute;
  }
  return clock.shown;
}

function read(format: Intl.DateTimeFormat, atMs: number): WallClock {
  let day = 0;
  let minute = 0;
  for (const { type, value } of format.formatToParts(atMs)) {
    if (type === "weekday") day = weekDays.indexOf(value.toLowerCase() as Day);
    else if (type === "hour") minute += Number(value) * 60;
    else if (type === "minute") minute += Number(value);
  }
  return { day, minute };
}

/**
 * The next time of day in a zone, strictly after a point in time, on one of these days; on any day when there are none. A
 * time that is missing because clocks go forward counts as that many minutes later.
 */
export function nextTimeMs(zone: string, time: string, days: readonly Day[], nowMs: number): number {
  const fromMs = Math.floor(nowMs / minuteMs) * minuteMs;
  const now = wallClock(zone, fromMs);
  const wanted = minuteOf(time);
  let ahead = (wanted - now.minute + dayMinutes) % dayMinutes || dayMinutes;
  const isWanted = () => {
    const day = (now.day + Math.floor((now.minute + ahead) / dayMinutes)) % 7;
    return days.length === 0 || days.includes(weekDays[day]!);
  };
  while (!isWanted()) ahead += dayMinutes;
  const atMs = fromMs + ahead * minuteMs;
  // Clocks may have changed on the way.
  const late = wallClock(zone, atMs).minute - wanted;
  const shift = late > dayMinutes / 2 ? late - dayMinutes : late < -dayMinutes / 2 ? late + dayMinutes : late;
  const correctedMs = atMs - shift * minuteMs;
  return wallClock(zone, correctedMs).minute === wanted && correctedMs > nowMs ? correctedMs : atMs;
}
