import type { QuietHours, QuietRange } from "./settings.ts";
import { minuteMs, minuteOf, type WallClock, wallClock, weekDays } from "./wall-clock.ts";

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
  const startsToday = startDays.includes(weekDays[day]!);
  if (from === to) return startsToday;
  if (from < to) return startsToday && minute >= from && minute < to;
  return (startsToday && minute >= from) || (minute < to && startDays.includes(weekDays[(day + 6) % 7]!));
}

const dayMinutes = 24 * 60;
/** The largest change of a clock. */
const clockChangeMinutes = 180;
/** Quiet hours repeat every week, so those that last longer never end. */
const lengthMsMax = (8 * dayMinutes + clockChangeMinutes) * minuteMs;

/** When the quiet hours that apply now end; undefined if they never do. */
export function quietEndMs(hours: QuietHours, subscriberZone: string, nowMs: number): number | undefined {
  const zone = hours.timezone || subscriberZone || "UTC";
  let atMs = Math.floor(nowMs / minuteMs) * minuteMs;
  while (atMs - nowMs <= lengthMsMax) {
    const clock = wallClock(zone, atMs);
    const left = Math.max(0, ...hours.ranges.map((range) => minutesLeft(range, clock)));
    if (left === 0) return atMs;
    const nextMs = atMs + left * minuteMs;
    const isOnTime = wallClock(zone, nextMs).minute === (clock.minute + left) % dayMinutes;
    atMs = isOnTime ? nextMs : endNear(hours, subscriberZone, atMs, nextMs);
  }
  return undefined;
}

/** The first minute that is not quiet, near the end of a range during which clocks changed. */
function endNear(hours: QuietHours, subscriberZone: string, fromMs: number, nearMs: number): number {
  const firstMs = Math.max(fromMs + minuteMs, nearMs - clockChangeMinutes * minuteMs);
  for (let atMs = firstMs; atMs < nearMs + clockChangeMinutes * minuteMs; atMs += minuteMs) {
    if (!isQuiet(hours, subscriberZone, atMs)) return atMs;
  }
  return nearMs;
}

/** The minutes until a range ends; 0 when it does not apply. */
function minutesLeft(range: QuietRange, clock: WallClock): number {
  if (!covers(range, clock)) return 0;
  const to = minuteOf(range.end);
  if (minuteOf(range.start) === to) return dayMinutes - clock.minute;
  return (to - clock.minute + dayMinutes) % dayMinutes || dayMinutes;
}
