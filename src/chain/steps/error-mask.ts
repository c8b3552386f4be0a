import type { Log } from "../../platform/log/log.ts";
import type { Interceptor } from "../call.ts";
import { watch } from "../stream.ts";
import { mask } from "./mask.ts";

/** Step 12: details of internal errors go to the log, never to callers. */
export function errorMasking(log: Log): Interceptor {
  return async (call, next) => {
    try {
      return watch(await next(call), { mapError: (error) => mask(error, call, log) });
    } catch (error) {
      throw mask(error, call, log);
    }
  };
}
