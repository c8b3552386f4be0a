import type { Log } from "../platform/log/log.ts";
import type { Interceptor } from "./call.ts";
import { mask } from "./mask.ts";
import { toFailure } from "./status-mapping.ts";
import { watch } from "./stream.ts";

/** Step 1: nothing but a failure of the catalogue ever leaves the chain, whatever breaks inside. */
export function recovery(log: Log): Interceptor {
  return async (call, next) => {
    const recover = (error: unknown) => mask(toFailure(error), call, log);
    try {
      return watch(await next(call), { mapError: recover });
    } catch (error) {
      throw recover(error);
    }
  };
}
