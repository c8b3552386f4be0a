import { type DescMessage, fromJson, type MessageShape, type JsonObject as ProtoJson } from "@bufbuild/protobuf";
import { Failure as CallFailure } from "../../../../errors/index.ts";
import { retryAfterMs } from "../../../../platform/backoff/retry-after.ts";
import { classifyDatabaseError, mayBeCommitted } from "../../../../platform/db/index.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import type { Failure } from "../domain/engine/state.ts";

/** A final or temporary failure of an effect. */
export class EffectFailure extends Error {
  readonly failure: Failure;

  constructor(
    code: string,
    message: string,
    retryable = false,
    details: Json = null,
    headers: CallFailure["headers"] = {},
  ) {
    super(message);
    const waitMs = retryAfterMs(headers["retry-after"], Date.now());
    this.failure = { code, message, details, retryable, ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
  }
}

/** Reads the request of an operation; throws the failure of the step if it is invalid. */
export function readRequest<D extends DescMessage>(
  schema: D,
  request: JsonObject,
  code: string,
  what: string,
): MessageShape<D> {
  try {
    return fromJson(schema, request as ProtoJson);
  } catch (error) {
    throw new EffectFailure(code, `The ${what} is invalid: ${(error as Error).message}.`);
  }
}

/** Errors that say nothing about the effect: it is still being performed, or has to wait until the tenant is active again. */
const repeatedCodes: ReadonlySet<string> = new Set(["IDEMPOTENCY_IN_PROGRESS", "TENANT_SUSPENDED"]);

/** Converts an error to the failure of a step; undefined if the outcome is unknown and the effect must be repeated. */
export function toEffectFailure(error: unknown, code: string): Failure | undefined {
  if (error instanceof EffectFailure) return error.failure;
  const failure = error instanceof CallFailure ? error : classifyDatabaseError(error);
  if (!(failure instanceof CallFailure)) return undefined;
  const { retryable, http } = failure.entry;
  // The next attempt has another idempotency key: an attempt that may have taken effect must be repeated with its own.
  if (repeatedCodes.has(failure.code) || mayBeCommitted(failure)) return undefined;
  // A failure of the service itself is no reason to fail the step.
  if (retryable && http >= 500) return undefined;
  const own = failure.code === "QUOTA_EXCEEDED" ? "quota_exceeded" : code;
  return { code: own, message: failure.message, details: { error_code: failure.code }, retryable };
}
