import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type ConnectorExecution,
  ConnectorExecutionSchema,
  ConnectorRenderedRequestSchema,
  type ExecuteActionResponse,
  ExecuteActionResponseSchema,
  type ProxyConnectionResponse,
  ProxyConnectionResponseSchema,
} from "../../../../gen/service/api/connector_action_pb.ts";
import type { Json } from "../../../platform/document/index.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import type { ActionResult } from "./action-service.ts";
import { type Execution, isRepeatable } from "./domain/execution.ts";
import type { RawOutput } from "./execution/raw-request.ts";

export function fromExecution(execution: Execution): ConnectorExecution {
  const { attempts, output, outputOmitted, retryAt, startedAt, endedAt, safety, status, idempotencyKey, ...rest } =
    execution;
  return create(ConnectorExecutionSchema, {
    ...{ ...rest, status, outputOmitted, deduplicationKey: idempotencyKey, startedAt: timestampFromDate(startedAt) },
    ...{ endedAt: optionalTime(endedAt), retryAt: optionalTime(retryAt) },
    ...(status === "succeeded" && output !== undefined && !outputOmitted && { output: toValue(output) }),
    attempts: attempts.map(({ startedAtMs, ...attempt }) => ({ ...attempt, startedAt: timestampFromMs(startedAtMs) })),
    repeatable: status !== "running" && isRepeatable(status, safety),
  });
}

/** Converts the result of a call to its response. */
export function fromResult(result: ActionResult): ExecuteActionResponse {
  return "execution" in result
    ? create(ExecuteActionResponseSchema, { execution: fromExecution(result.execution) })
    : create(ExecuteActionResponseSchema, { request: create(ConnectorRenderedRequestSchema, result.request) });
}

/** Converts the result of a raw request to its response. The status is 0 until it has ended. */
export function fromRawResult(result: ActionResult): ProxyConnectionResponse {
  if (!("execution" in result)) throw new Error("Raw requests have no dry run.");
  const { id, output, outputOmitted } = result.execution;
  const { status = 0, headers = {}, body = "", base64 = "" } = (output ?? {}) as Partial<RawOutput>;
  return create(ProxyConnectionResponseSchema, {
    ...{ executionId: id, status, headers, body, bodyBytes: Buffer.from(base64, "base64"), bodyOmitted: outputOmitted },
  });
}

function toValue(output: Json): Value {
  try {
    return fromJson(ValueSchema, output as JsonValue);
  } catch {
    // A number beyond the range of JavaScript is read as infinity, which JSON has no form for: it becomes null.
    return fromJson(ValueSchema, JSON.parse(JSON.stringify(output)) as JsonValue);
  }
}
