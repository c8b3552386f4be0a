import { findTimeZone } from "../../time-zone/time-zone.ts";
import { charge, type Frame } from "../plan/frame.ts";

const CREATE_STEPS = 8_000;
const READ_STEPS = 200;
const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/;

/** The local time of a zone, encoded as the UTC milliseconds with the same date and time; undefined for an unknown zone. */
export function wallClockMs(frame: Frame, epochMs: number, zone: string): number | undefined {
  const offset = zone.length > 6 ? null : OFFSET.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return epochMs + minutes * 60_000 * (offset[1] === "-" ? -1 : 1);
  }
  if (zone === "UTC") return epochMs;
  const found = findTimeZone(zone, () => charge(frame, CREATE_STEPS));
  if (found === undefined) return undefined;
  charge(frame, READ_STEPS);
  return epochMs + found.offsetMs(epochMs);
}
