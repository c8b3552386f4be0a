import type { Log } from "../../platform/log/log.ts";
import type { Interceptor } from "../call.ts";
import { observeResponse } from "../stream.ts";
import { mask } from "./mask.ts";

/** Step 12: logs the details of internal errors and hides them from callers. */
export function errorMask(log: Log): Interceptor {
  return async (call, next) => {
    try {
      return observeResponse(await next(call), { mapError: (error) => mask(error, call, log) });
    } catch (error) {
      throw mask(error, call, log);
    }
  };
}
