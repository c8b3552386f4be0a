import { createHash } from "node:crypto";
import { ulidFrom } from "../../../platform/ids/ulid.ts";

/** The id of the run of a time. It follows from the schedule and the time, so that a time has one run. */
export function runIdOf(scheduleId: string, timeMs: number): string {
  const digest = createHash("sha256").update(`${scheduleId}:${timeMs}`).digest();
  return ulidFrom(timeMs, digest);
}
