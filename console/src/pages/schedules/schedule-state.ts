import type { Schedule } from "@client/gen/schedule";

/** The state of a schedule in one word. The service pauses a schedule itself when its item cannot be routed. */
export function scheduleState({ paused, paused_reason, next_at }: Schedule): "active" | "paused" | "failing" | "ended" {
  if (paused) return paused_reason === "failing" ? "failing" : "paused";
  return next_at === undefined ? "ended" : "active";
}
