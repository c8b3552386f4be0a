import { Failure, fail } from "../../errors/index.ts";
import { classifyDatabaseError } from "../../platform/db/index.ts";
import type { Interceptor } from "../call.ts";
import { watch } from "../stream.ts";

/** Step 13: every error resolves to one code of the catalogue. */
export function statusMapping(): Interceptor {
  return async (call, next) => {
    const map = (error: unknown) => (call.signal.aborted ? reasonOf(call.signal) : toFailure(error));
    try {
      return watch(await next(call), { mapError: map });
    } catch (error) {
      throw map(error);
    }
  };
}

/** The failure that an error stands for; INTERNAL for one that means nothing to callers. */
export function toFailure(error: unknown): Failure {
  return classifyDatabaseError(error) ?? fail("INTERNAL", { cause: error });
}

function reasonOf(signal: AbortSignal): Failure {
  return signal.reason instanceof Failure ? signal.reason : fail("CANCELED", { cause: signal.reason });
}
