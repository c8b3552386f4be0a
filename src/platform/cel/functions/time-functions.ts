import type { Frame } from "../plan/frame.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../syntax/static-type.ts";
import { durationIn, epochMs, millisecondsOf } from "../values/time.ts";
import { type Duration, Failure, type Timestamp, type Value } from "../values/values.ts";
import { wallClockMs } from "../values/zone.ts";
import { type FunctionTable, type Overload, overload } from "./overload.ts";

const DAY_MS = 86_400_000;

/** Creates the overloads of a calendar accessor: in UTC, and in a given time zone. */
function calendarAccessor(read: (date: Date) => number): readonly Overload[] {
  return [
    overload([TIMESTAMP], INT, (_frame, _at, time: Timestamp) => BigInt(read(new Date(epochMs(time))))),
    overload([TIMESTAMP, STRING], INT, (frame: Frame, at: number, time: Timestamp, zone: string): Value => {
      const localMs = wallClockMs(frame, epochMs(time), zone);
      return localMs === undefined ? new Failure("no such time zone", at) : BigInt(read(new Date(localMs)));
    }),
  ];
}

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  return Math.round((date.getTime() - start.getTime()) / DAY_MS);
}

const durationAccessor = (read: (duration: Duration) => bigint): Overload =>
  overload([DURATION], INT, (_frame, _at, duration: Duration) => read(duration));

/** The functions on timestamps and durations. */
export const TIME_FUNCTIONS: FunctionTable = {
  ".getFullYear": calendarAccessor((date) => date.getUTCFullYear()),
  ".getMonth": calendarAccessor((date) => date.getUTCMonth()),
  ".getDate": calendarAccessor((date) => date.getUTCDate()),
  ".getDayOfMonth": calendarAccessor((date) => date.getUTCDate() - 1),
  ".getDayOfWeek": calendarAccessor((date) => date.getUTCDay()),
  ".getDayOfYear": calendarAccessor(dayOfYear),
  ".getHours": [
    ...calendarAccessor((date) => date.getUTCHours()),
    durationAccessor((duration) => durationIn(duration, "h")),
  ],
  ".getMinutes": [
    ...calendarAccessor((date) => date.getUTCMinutes()),
    durationAccessor((duration) => durationIn(duration, "m")),
  ],
  ".getSeconds": [
    ...calendarAccessor((date) => date.getUTCSeconds()),
    durationAccessor((duration) => durationIn(duration, "s")),
  ],
  ".getMilliseconds": [...calendarAccessor((date) => date.getUTCMilliseconds()), durationAccessor(millisecondsOf)],
};
