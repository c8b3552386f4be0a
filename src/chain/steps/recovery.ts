import type { Log } from "../../platform/log/log.ts";
import type { Interceptor } from "../call.ts";
import { watch } from "../stream.ts";
import type { Challenge } from "./challenge.ts";
import { mask } from "./mask.ts";
import { toFailure } from "./status-map.ts";

/**
 * Step 1: nothing but a failure of the catalogue ever leaves the chain, whatever breaks inside. Every 401 carries the
 * plane's challenge, whichever step refused.
 */
export function recovery(log: Log, challenge: Challenge): Interceptor {
  return async (call, next) => {
    const recover = (error: unknown) => {
      const failure = mask(toFailure(error), call, log);
      if (failure.entry.http === 401) call.responseHeaders["www-authenticate"] = challenge.header(call, failure);
      return failure;
    };
    try {
      return watch(await next(call), { mapError: recover });
    } catch (error) {
      throw recover(error);
    }
  };
}
