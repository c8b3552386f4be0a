import type { Day, QuietHours, QuietRange } from "./settings.ts";

/** The days of the week as JavaScript counts them. */
const days: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const minuteMs = 60_000;

/** What the clock on a wall shows. */
interface WallClock {
  /** From 0, Sunday. */
  readonly day: number;
  /** Since midnight. */
  readonly minute: number;
}

/**
 * Whether a moment lies in quiet hours, by the clock on the wall: on the day on which clocks go forward an hour of the
 * range is missing, and on the day on which they go back it comes twice.
 */
export function isSilent({ timezone, ranges }: QuietHours, subscriberZone: string, nowMs: number): boolean {
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

/** Whether a text names a time zone with its summers. */
export function isTimezone(text: string): boolean {
  // Offsets such as +02:00 are taken for zones too, but know no summer.
  return /^[A-Za-z]/.test(text) && clockOf(text) !== undefined;
}

/** A zone's way to tell the time, and the minute that it told last: many ask in the same one. */
interface ZoneClock {
  readonly format: Intl.DateTimeFormat;
  epochMinute: number;
  shown: WallClock;
}

// Making one is slow and takes some hundred kilobytes.
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
  // Zones are checked when they are stored; one that the tables have dropped since must not stop anything.
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
