import type { Frame } from "../plan/frame.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../syntax/static-type.ts";
import { durationIn, epochMs, millisecondsOf } from "../values/time.ts";
import { type Duration, Failure, type Timestamp, type Value } from "../values/values.ts";
import { wallClockMs } from "../values/zone.ts";
import { type FunctionTable, type Overload, overload } from "./overload.ts";

const DAY_MS = 86_400_000;

/** A reading of the calendar or the clock, in UTC or in the zone that is named. */
function reading(read: (date: Date) => number): readonly Overload[] {
  return [
    overload([TIMESTAMP], INT, (_frame, _at, time: Timestamp) => BigInt(read(new Date(epochMs(time))))),
    overload([TIMESTAMP, STRING], INT, (frame: Frame, at: number, time: Timestamp, zone: string): Value => {
      const shown = wallClockMs(frame, epochMs(time), zone);
      return shown === undefined ? new Failure("no such time zone", at) : BigInt(read(new Date(shown)));
    }),
  ];
}

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  return Math.round((date.getTime() - start.getTime()) / DAY_MS);
}

const ofDuration = (read: (duration: Duration) => bigint): Overload =>
  overload([DURATION], INT, (_frame, _at, duration: Duration) => read(duration));

/** The functions on timestamps and durations. */
export const TIME_FUNCTIONS: FunctionTable = {
  ".getFullYear": reading((date) => date.getUTCFullYear()),
  ".getMonth": reading((date) => date.getUTCMonth()),
  ".getDate": reading((date) => date.getUTCDate()),
  ".getDayOfMonth": reading((date) => date.getUTCDate() - 1),
  ".getDayOfWeek": reading((date) => date.getUTCDay()),
  ".getDayOfYear": reading(dayOfYear),
  ".getHours": [...reading((date) => date.getUTCHours()), ofDuration((duration) => durationIn(duration, "h"))],
  ".getMinutes": [...reading((date) => date.getUTCMinutes()), ofDuration((duration) => durationIn(duration, "m"))],
  ".getSeconds": [...reading((date) => date.getUTCSeconds()), ofDuration((duration) => durationIn(duration, "s"))],
  ".getMilliseconds": [...reading((date) => date.getUTCMilliseconds()), ofDuration(millisecondsOf)],
};
