import { ObjectReader, type Violations } from "../../../../../../platform/document/index.ts";
import { defaultRetry, type Json, type RetryPolicy, type StepTimeout } from "../definition.ts";
import { formats, limits } from "../limits.ts";

const dayMs = 86_400_000;

/** The longest attempt of a task. */
const attemptMaxMs = 7 * dayMs;
/** The longest wait between two attempts. */
const retryWaitMaxMs = 7 * dayMs;

export const retryFields = ["max_attempts", "initial", "factor", "max", "on"] as const;
export const timeoutFields = ["attempt", "total", "heartbeat"] as const;

/** Reads a retry policy. Missing fields have the values of the default policy. */
export function parseRetry(value: Json | undefined, path: string, violations: Violations): RetryPolicy | undefined {
  if (value === undefined) return undefined;
  const example = '{"max_attempts": 5, "initial": "1s", "factor": 2, "max": "60s"}';
  const retry = ObjectReader.open(value, path, violations, { known: retryFields, example, what: "retry" });
  if (retry === undefined) return undefined;
  const wait = { maxMs: retryWaitMaxMs, example: "1s" };
  return {
    maxAttempts: retry.integer("max_attempts", { min: 1, max: limits.attempts }, defaultRetry.maxAttempts) ?? 1,
    initialMs: retry.duration("initial", wait) ?? defaultRetry.initialMs,
    factor: readFactor(retry),
    maxMs: retry.duration("max", wait) ?? defaultRetry.maxMs,
    on: retry.textList("on", formats.code, { min: 1, max: limits.codes }, '["attempt_timeout"]'),
  };
}

function readFactor(retry: ObjectReader): number {
  const factor = retry.get("factor") ?? defaultRetry.factor;
  if (typeof factor === "number" && factor >= 1 && factor <= limits.factor) return factor;
  retry.refuse("factor", "range", `must be a number from 1 to ${limits.factor}, for example 2`);
  return defaultRetry.factor;
}

/** Reads the time-outs of a step. */
export function parseStepTimeout(value: Json | undefined, path: string, violations: Violations): StepTimeout {
  const none = { attemptMs: undefined, totalMs: undefined, heartbeatMs: undefined };
  if (value === undefined) return none;
  const example = '{"attempt": "30s", "total": "10m"}';
  const timeout = ObjectReader.open(value, path, violations, { known: timeoutFields, example, what: "timeout" });
  if (timeout === undefined) return none;
  const attemptMs = timeout.duration("attempt", { maxMs: attemptMaxMs, example: "30s" });
  const heartbeatMs = timeout.duration("heartbeat", { maxMs: attemptMaxMs, example: "10s" });
  const totalMs = timeout.duration("total", { example: "10m" });
  if (heartbeatMs !== undefined && attemptMs !== undefined && heartbeatMs > attemptMs) {
    timeout.refuse("heartbeat", "range", "must not be longer than attempt");
  }
  if (totalMs !== undefined && attemptMs !== undefined && attemptMs > totalMs) {
    timeout.refuse("attempt", "range", "must not be longer than total, which includes all attempts");
  }
  return { attemptMs, totalMs, heartbeatMs };
}
