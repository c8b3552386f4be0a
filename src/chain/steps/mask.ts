import { randomBytes } from "node:crypto";
import { Failure, fail } from "../../errors/index.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Call } from "../call.ts";

// Recovery masks errors of the steps outside of the error mask. A masked error keeps its reference.
const masked = new WeakSet<Failure>();

/** Hides an internal error: the cause is logged under a reference, and the caller gets only the reference. */
export function mask(error: unknown, call: Call, log: Log): Failure {
  if (error instanceof Failure && (error.code !== "INTERNAL" || masked.has(error))) {
    if (error.entry.http >= 500 && error.cause !== undefined && !masked.has(error)) {
      masked.add(error);
      log.warn(
        {
          err: error.cause,
          code: error.code,
          request_id: call.requestId,
          trace_id: call.span?.traceId,
          span_id: call.span?.spanId,
        },
        error.message,
      );
    }
    return error;
  }
  const reference = randomBytes(4).toString("hex");
  log.error(
    {
      err: error instanceof Failure && error.cause !== undefined ? error.cause : error,
      ref: reference,
      request_id: call.requestId,
      trace_id: call.span?.traceId,
      span_id: call.span?.spanId,
      operation: call.operation.id,
    },
    "internal error",
  );
  const failure = fail("INTERNAL", { public: `Internal error (ref: ${reference})` });
  masked.add(failure);
  return failure;
}
