import { fromJson, type JsonObject as ProtoJson } from "@bufbuild/protobuf";
import {
  ConnectorActionService,
  ExecuteActionRequestSchema,
} from "../../../../../gen/service/api/connector_action_pb.ts";
import type { OperationCaller } from "../../../../chain/operation-caller.ts";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { retryAfterMs } from "../../../../platform/backoff/retry-after.ts";
import { CelError } from "../../../../platform/cel/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { type DeliveryAction, renderActionInput } from "../../pools/index.ts";
import type { WorkFailure } from "../domain/retry-policy.ts";

/** Delivers an item with a connector action; returns why it was not delivered. */
export type PushAction = (
  { tenantId, environmentKey }: { readonly tenantId: TenantId; readonly environmentKey: string },
  action: DeliveryAction,
  item: JsonObject & { readonly queue_item_id: string },
) => Promise<WorkFailure | undefined>;

/** Shorter than the lease of an item, so that no other node delivers it concurrently. */
const timeoutMs = 40_000;

export function createPushAction(call: OperationCaller): PushAction {
  return async function pushAction({ tenantId, environmentKey }, action, item) {
    const itemId = item.queue_item_id;
    // The item's id: a delivery that may have taken effect is never repeated by another attempt.
    const origin = { tenantId, environmentKey, subject: "service:routing", idempotencyKey: itemId, requestId: itemId };
    try {
      const input = renderActionInput(action, item);
      const fields = { key: action.key, connection_id: action.connectionId, input, timeout_ms: timeoutMs };
      const request = fromJson(ExecuteActionRequestSchema, fields as ProtoJson);
      await call(ConnectorActionService.method.executeAction, origin, request);
      return undefined;
    } catch (error) {
      if (error instanceof CelError)
        return failure(false, "expression_error", `The input cannot be built: ${error.message}`);
      if (!(error instanceof Failure)) throw error;
      return toFailure(error);
    }
  };
}

function toFailure({ code, message, entry, extra, headers }: Failure): WorkFailure {
  const { class: answerClass } = extra as { class?: string };
  const reasonCode = code === "CONNECTOR_OUTCOME_UNKNOWN" ? "outcome_unknown" : (answerClass ?? code.toLowerCase());
  const waitMs = retryAfterMs(headers["retry-after"], Date.now());
  const isRetried = entry.retryable || code === "IDEMPOTENCY_IN_PROGRESS";
  return { ...failure(isRetried, reasonCode, message), ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
}

function failure(retryable: boolean, reasonCode: string, reason: string): WorkFailure {
  return { retryable, reasonCode, reason };
}
