import type { Day, QuietHours, QuietRange } from "./settings.ts";

/** The days of the week in JavaScript's order. */
const days: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const minuteMs = 60_000;

/** Local day and time. */
interface WallClock {
  /** 0 is Sunday. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

/**
 * Whether a point in time is in quiet hours, by local time. When clocks go forward, an hour of the range is missing; when
 * they go back, an hour occurs twice.
 */
export function isQuiet({ timezone, ranges }: QuietHours, subscriberZone: string, nowMs: number): boolean {
  if (ranges.length === 0) return false;
  const clock = wallClock(timezone || subscriberZone || "UTC", nowMs);
  return ranges.some((range) => covers(range, clock));
}

function covers({ days: startDays, start, end }: QuietRange, { day, minute }: WallClock): boolean {
  const from = minuteOf(start);
  const to = minuteOf(end);
  const startsToday = startDays.includes(days[day]!);
  if (from === to) return startsToday;
  if (from < to) return startsToday && minute >= from && minute < to;
  return (startsToday && minute >= from) || (minute < to && startDays.includes(days[(day + 6) % 7]!));
}

function minuteOf(time: string): number {
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

function wallClock(zone: string, nowMs: number): WallClock {
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
    if (type === "weekday") day = days.indexOf(value.toLowerCase() as Day);
    else if (type === "hour") minute += Number(value) * 60;
    else if (type === "minute") minute += Number(value);
  }
  return { day, minute };
}
