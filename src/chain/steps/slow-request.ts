import type { Log } from "../../platform/log/log.ts";
import type { Interceptor } from "../call.ts";

/** Step 14: logs calls that take longer than the threshold. Time in a wait that the caller requested does not count. */
export function slowRequest(thresholdMs: number, log: Log): Interceptor {
  return async (call, next) => {
    try {
      return await next(call);
    } finally {
      const tookMs = performance.now() - call.startedAtMs - call.waitedMs;
      if (tookMs > thresholdMs) {
        log.warn(
          {
            operation: call.operation.id,
            took_ms: Math.round(tookMs),
            request_id: call.requestId,
            trace_id: call.span?.traceId,
            span_id: call.span?.spanId,
          },
          "slow request",
        );
      }
    }
  };
}
