import { CelError } from "../../../../../platform/cel/index.ts";
import { isTimestampText, parseDuration } from "../../../../../platform/text/index.ts";
import type { Json } from "../../../definitions/index.ts";

/** Reads the scope of an event: a text, a number or a boolean. */
export function readScope(value: Json): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new CelError("evaluation", "The scope of an event must be a text, a number or a boolean.");
}

/** Reads a duration in whole milliseconds: a text such as 10m, or a number of seconds. */
export function readDuration(value: Json): number {
  const ms =
    typeof value === "number" ? Math.round(value * 1000) : typeof value === "string" ? parseDuration(value) : undefined;
  if (ms !== undefined) return ms;
  throw new CelError("evaluation", "A duration must be a text such as 10m or a number of seconds.");
}

/** Reads a time in milliseconds since 1970: an RFC 3339 text. */
export function readTime(value: Json): number {
  const ms = typeof value === "string" && isTimestampText(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new CelError("evaluation", "A time must be a timestamp or an RFC 3339 text such as 2026-01-31T12:00:00Z.");
}
