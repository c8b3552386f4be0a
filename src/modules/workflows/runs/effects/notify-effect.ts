import { fromJson, type JsonObject as ProtoJson } from "@bufbuild/protobuf";
import {
  NotificationService,
  TriggerNotificationRequestSchema,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import { EffectFailure } from "./effect-failure.ts";

/** Triggers a notification; returns the output of the step. */
export async function performNotify(call: OperationCaller, origin: CallOrigin, request: Json): Promise<Json> {
  const { to, ...trigger } = request as JsonObject & { readonly to: Json };
  const audience = typeof to === "string" ? { subscriber_external_id: to } : to;
  const message = requestMessage({ ...trigger, ...(audience as JsonObject) });
  const { transactionId, outcomes } = await call(NotificationService.method.triggerNotification, origin, message);
  return {
    transaction_id: transactionId,
    outcomes: outcomes.map(({ channel, outcome, deliveryId }) => ({ channel, outcome, delivery_id: deliveryId })),
  };
}

function requestMessage(json: JsonObject) {
  try {
    return fromJson(TriggerNotificationRequestSchema, json as ProtoJson);
  } catch (error) {
    throw new EffectFailure("notify_failed", `The trigger is invalid: ${(error as Error).message}.`);
  }
}
