import { findTimeZone, type TimeZone } from "../../../../platform/time-zone/time-zone.ts";
import type { Day } from "./settings.ts";

/** The days of the week in JavaScript's order. */
export const weekDays: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

export const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

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
  return findTimeZone(text) !== undefined;
}

/** The local day and time in a zone. */
export function wallClock(zone: string, nowMs: number): WallClock {
  const date = new Date(nowMs + zoneOf(zone).offsetMs(nowMs));
  return { day: date.getUTCDay(), minute: date.getUTCHours() * 60 + date.getUTCMinutes() };
}

/** The next time of day in a zone, strictly after a point in time, on one of these days; on any day when there are none. */
export function nextTimeMs(zone: string, time: string, days: readonly Day[], nowMs: number): number {
  const { offsetMs, instantOf } = zoneOf(zone);
  let wallMs = Math.floor((nowMs + offsetMs(nowMs)) / dayMs) * dayMs + minuteOf(time) * minuteMs;
  const isWanted = () => days.length === 0 || days.includes(weekDays[new Date(wallMs).getUTCDay()]!);
  while (!isWanted() || instantOf(wallMs) <= nowMs) wallMs += dayMs;
  return instantOf(wallMs);
}

/** Zones are checked when they are stored. One that the zone tables have since dropped falls back to UTC. */
function zoneOf(name: string): TimeZone {
  return findTimeZone(name) ?? findTimeZone("UTC")!;
}
