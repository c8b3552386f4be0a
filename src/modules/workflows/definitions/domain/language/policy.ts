import {
  defineObject,
  integer,
  type Member,
  object,
  objectOrEmpty,
  optional,
  optionalTexts,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { formats, limits } from "./limits.ts";
import { duration, durationOr } from "./members.ts";

const dayMs = 86_400_000;

/** The longest attempt of a task. */
const attemptMaxMs = 7 * dayMs;
const retryWait = { maxMs: 7 * dayMs, example: "1s" };
const factorDefault = 2;

const factor: Member<number> = {
  ...{ name: "factor", schema: { type: "number", minimum: 1, maximum: limits.factor }, isRequired: false },
  read(retry) {
    const value = retry.get("factor") ?? factorDefault;
    if (typeof value === "number" && value >= 1 && value <= limits.factor) return value;
    retry.refuse("factor", "range", `must be a number from 1 to ${limits.factor}, for example 2`);
    return factorDefault;
  },
};

/** Missing members have the values of the default policy. */
const retryObject = defineObject("retry", '{"max_attempts": 5, "initial": "1s", "factor": 2, "max": "60s"}', {
  maxAttempts: integer("max_attempts", { min: 1, max: limits.attempts }, 3),
  initialMs: durationOr("initial", retryWait, 1000),
  factor,
  maxMs: durationOr("max", retryWait, 60_000),
  /** The codes that are retried; undefined for all that can be. */
  on: optionalTexts("on", formats.code, { min: 1, max: limits.codes }, '["attempt_timeout"]'),
});

/** How often and when a step is tried again. */
export type RetryPolicy = ValueOf<typeof retryObject>;

/** The retry policy of steps without their own, when the definition has none. */
export const defaultRetry: RetryPolicy = {
  maxAttempts: 3,
  initialMs: 1000,
  factor: factorDefault,
  maxMs: 60_000,
  on: undefined,
};

/** The retry policy of a step or of all steps; undefined for the default. */
export const retry: Member<RetryPolicy | undefined> = {
  ...optional(object("retry", retryObject)),
  schema: { $ref: "#/$defs/retry" },
};

const timeoutObject = defineObject(
  "timeout",
  '{"attempt": "30s", "total": "10m"}',
  {
    attemptMs: duration("attempt", { maxMs: attemptMaxMs, example: "30s" }),
    totalMs: duration("total", { example: "10m" }),
    heartbeatMs: duration("heartbeat", { maxMs: attemptMaxMs, example: "10s" }),
  },
  (limits, reader) => {
    const { attemptMs, totalMs, heartbeatMs } = limits;
    if (heartbeatMs !== undefined && attemptMs !== undefined && heartbeatMs > attemptMs) {
      reader.refuse("heartbeat", "range", "must not be longer than attempt");
    }
    if (totalMs !== undefined && attemptMs !== undefined && attemptMs > totalMs) {
      reader.refuse("attempt", "range", "must not be longer than total, which includes all attempts");
    }
    return limits;
  },
);

/** The limits of a step. Undefined: the default for its kind. */
export type StepTimeout = ValueOf<typeof timeoutObject>;

/** The limits of a step. */
export const timeout: Member<StepTimeout> = {
  ...objectOrEmpty("timeout", timeoutObject),
  schema: { $ref: "#/$defs/timeout" },
};

/** The schemas of policies, by name. */
export const policySchemas = { retry: retryObject.schema, timeout: timeoutObject.schema };
