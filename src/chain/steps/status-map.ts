import { Failure, fail } from "../../errors/index.ts";
import { classifyDatabaseError } from "../../platform/db/index.ts";
import type { Interceptor } from "../call.ts";
import { observeResponse } from "../stream.ts";

/** Step 13: maps every error to one code of the catalogue. */
export function statusMap(): Interceptor {
  return async (call, next) => {
    const map = (error: unknown) => (call.signal.aborted ? reasonOf(call.signal) : toFailure(error));
    try {
      return observeResponse(await next(call), { mapError: map });
    } catch (error) {
      throw map(error);
    }
  };
}

/** Maps an error to a failure; an unknown error becomes INTERNAL. */
export function toFailure(error: unknown): Failure {
  return classifyDatabaseError(error) ?? fail("INTERNAL", { cause: error });
}

function reasonOf(signal: AbortSignal): Failure {
  return signal.reason instanceof Failure ? signal.reason : fail("CANCELED", { cause: signal.reason });
}
