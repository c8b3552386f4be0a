import { retryAfterMs } from "../../../../../platform/backoff/retry-after.ts";
import type { Json } from "../../../../../platform/document/index.ts";
import { valueAt } from "../json-pointer.ts";
import type { RateLimitHint } from "../response-spec.ts";

/** A hint further in the future is a mistake of the provider. */
const waitMsMax = 7 * 86_400_000;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** When a call may be repeated, as the provider says it; undefined if it does not. */
export function readHint(
  hint: RateLimitHint,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
  nowMs: number,
): number | undefined {
  const found = "header" in hint.from ? headers[hint.from.header] : valueAt(body, hint.from.body);
  if (typeof found !== "string" && typeof found !== "number") return undefined;
  return readTime(String(found).trim(), hint.unit, nowMs);
}

/** Reads the time of a hint. Times in the past become now. */
export function readTime(text: string, unit: RateLimitHint["unit"], nowMs: number): number | undefined {
  const at = timeOf(text, unit, nowMs);
  if (at === undefined || !Number.isFinite(at)) return undefined;
  return Math.min(Math.max(Math.ceil(at), nowMs), nowMs + waitMsMax);
}

function timeOf(text: string, unit: RateLimitHint["unit"], nowMs: number): number | undefined {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  switch (unit) {
    case "retry_after":
      return nowMs + (retryAfterMs(text, nowMs) ?? Number.NaN);
    case "s":
      return number === undefined ? undefined : nowMs + number * 1000;
    case "ms":
      return number === undefined ? undefined : nowMs + number;
    case "epoch_s":
      return number === undefined ? undefined : number * 1000;
    case "epoch_ms":
      return number;
    case "rfc3339":
      return Date.parse(text);
    case "duration":
      return durationOf(text, nowMs);
  }
}

/** Reads durations such as `6m0s`, `1.5s` and `20ms`. */
function durationOf(text: string, nowMs: number): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) ms += Number(amount) * unitMs[unit!]!;
  return nowMs + ms;
}
