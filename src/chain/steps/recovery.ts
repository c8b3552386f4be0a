import type { Correction, Failure } from "../../errors/index.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Call, Interceptor } from "../call.ts";
import { findCorrections } from "../corrections.ts";
import { correctReference, type FindKeyedRecords } from "../reference-correction.ts";
import { observeResponse } from "../stream.ts";
import type { Challenge } from "./challenge.ts";
import { mask } from "./mask.ts";
import { toFailure } from "./status-map.ts";

/**
 * Step 1: turns every error into a failure of the catalogue before it leaves the chain, and adds the plane's challenge to
 * every 401, and the corrections to every invalid request and to every reference to a record that does not exist.
 */
export function recovery(log: Log, challenge: Challenge, findRecords: FindKeyedRecords): Interceptor {
  return async (call, next) => {
    const recover = (error: unknown) => {
      const failure = mask(toFailure(error), call, log);
      if (failure.corrections.length === 0) failure.corrections = correctionsOf(failure, call, log);
      if (failure.entry.http === 401) call.responseHeaders["www-authenticate"] = challenge.header(call, failure);
      return failure;
    };
    try {
      return observeResponse(await next(call), { mapError: recover });
    } catch (error) {
      const failure = recover(error);
      if (failure.missing !== undefined && failure.corrections.length === 0) {
        // Without the lookup, the failure still says what is missing.
        const correction = await correctReference(call, failure, findRecords).catch(() => undefined);
        if (correction !== undefined) failure.corrections = [correction];
      }
      throw failure;
    }
  };
}

/** A failure leaves the chain without corrections if an error prevents them. */
function correctionsOf(failure: Failure, call: Call, log: Log): readonly Correction[] {
  try {
    return findCorrections(call, failure);
  } catch (error) {
    log.error({ err: error, request_id: call.requestId, operation: call.operation.id }, "no corrections");
    return [];
  }
}
