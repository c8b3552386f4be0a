import { charge, type Frame } from "../plan/frame.ts";

const ZONES_MAX = 100;
const CREATE_STEPS = 8_000;
const FORMAT_STEPS = 200;
const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time of a zone, encoded as the UTC milliseconds with the same date and time; undefined for an unknown zone. */
export function wallClockMs(frame: Frame, epochMs: number, zone: string): number | undefined {
  const offset = zone.length > 6 ? null : OFFSET.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return epochMs + minutes * 60_000 * (offset[1] === "-" ? -1 : 1);
  }
  if (zone === "UTC") return epochMs;
  const format = zone.length > 64 ? undefined : formatOf(frame, zone);
  if (format === undefined) return undefined;
  charge(frame, FORMAT_STEPS);
  return readWallClock(format, epochMs);
}

function readWallClock(format: Intl.DateTimeFormat, epochMs: number): number {
  const shown = new Map<string, number>();
  for (const part of format.formatToParts(epochMs)) shown.set(part.type, Number(part.value));
  const date = new Date(0);
  date.setUTCFullYear(shown.get("year")!, shown.get("month")! - 1, shown.get("day"));
  date.setUTCHours(shown.get("hour")!, shown.get("minute"), shown.get("second"));
  return date.getTime() + (((epochMs % 1_000) + 1_000) % 1_000);
}

// A format is slow to create and takes about 100 KB, so a bounded number of them is cached.
function formatOf(frame: Frame, zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  charge(frame, CREATE_STEPS);
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (formats.size >= ZONES_MAX) formats.delete(formats.keys().next().value!);
    formats.set(zone, format);
    return format;
  } catch {
    return undefined;
  }
}
