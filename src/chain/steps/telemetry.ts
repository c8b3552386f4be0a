import { Failure } from "../../errors/index.ts";
import type { Audit } from "../../platform/audit/index.ts";
import type { CallMetrics, Tracing } from "../../platform/telemetry/index.ts";
import { isAudited, toAuditEntry } from "../audit.ts";
import type { Interceptor } from "../call.ts";
import { observeResponse } from "../stream.ts";

interface Dependencies {
  readonly calls: CallMetrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
}

/** Step 2: records every call as a span and in the metrics, and audited and denied calls in the audit log. */
export function telemetry({ calls, tracing, audit }: Dependencies): Interceptor {
  return async (call, next) => {
    const { operation, protocol, plane } = call;
    const span = tracing.startSpan(operation.id, {
      parent: call.header("traceparent"),
      kind: "server",
      attributes: { "rpc.method": operation.id, "rpc.system.name": protocol },
    });
    call.span = span;
    calls.begin(protocol, plane);
    const end = (error: unknown) => {
      const code = error === undefined ? "OK" : error instanceof Failure ? error.code : "INTERNAL";
      calls.end(
        operation.id,
        protocol,
        plane,
        code,
        (performance.now() - call.startedAtMs) / 1000,
        call.principal?.tenantId,
      );
      if (error !== undefined) span.recordError(error);
      span.end();
    };
    try {
      const response = await next(call);
      // The audit entry is stored before the caller gets the response.
      if (audit !== undefined && isAudited(operation)) await audit.append(toAuditEntry(call, undefined, response));
      return observeResponse(response, { onEnd: end });
    } catch (error) {
      end(error);
      const entry = audit && toAuditEntry(call, error);
      if (entry !== undefined && (isAudited(operation) || entry.outcome === "denied")) await audit!.append(entry);
      throw error;
    }
  };
}
