import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type TriggerEvent as EventMessage,
  type TriggerSubscription as SubscriptionMessage,
  type TriggerTarget as TargetMessage,
  TriggerEventSchema,
  TriggerPollingSchema,
  TriggerRecordTargetSchema,
  TriggerRegistrationSchema,
  TriggerSubscriptionSchema,
  TriggerTargetSchema,
  TriggerWorkflowTargetSchema,
} from "../../../../gen/service/api/trigger_subscription_pb.ts";
import { invalid } from "../../../errors/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { TriggerEvent } from "./domain/event.ts";
import { callbackPath, type Subscription, type Target, urlKeyParameter } from "./domain/subscription.ts";

/** Reads a target; undefined if the request has none. Throws INVALID_ARGUMENT unless exactly one kind is present. */
export function toTarget(message: TargetMessage | undefined): Target | undefined {
  if (message === undefined) return undefined;
  const { workflow, route, record } = message;
  if ([workflow, route, record].filter((each) => each !== undefined).length !== 1) {
    throw invalid("target", "exclusive", "must have exactly one of workflow, route and record");
  }
  if (route !== undefined) return { kind: "route", request: route as JsonObject };
  if (workflow === undefined) return { kind: "record" };
  const { definition, version, input, runKey } = workflow;
  return {
    ...{ kind: "workflow", definition, version, runKey },
    ...(input !== undefined && { input: toJson(ValueSchema, input) as Json }),
  };
}

function fromTarget(target: Target): TargetMessage {
  switch (target.kind) {
    case "workflow": {
      const { definition, version, runKey, input } = target;
      const workflow = create(TriggerWorkflowTargetSchema, {
        ...{ definition, version, runKey },
        ...(input !== undefined && { input: toValue(input) }),
      });
      return create(TriggerTargetSchema, { workflow });
    }
    case "route":
      return create(TriggerTargetSchema, { route: target.request as never });
    case "record":
      return create(TriggerTargetSchema, { record: create(TriggerRecordTargetSchema) });
  }
}

/** Converts a subscription to its message. The secret part of its URL is shown once. */
export function fromSubscription(
  subscription: Subscription,
  publicUrl: string,
  urlKey?: string | undefined,
): SubscriptionMessage {
  const { registration } = subscription;
  const url = subscription.kind === "webhook" ? `${publicUrl}${callbackPath(subscription)}` : "";
  return create(TriggerSubscriptionSchema, {
    id: subscription.id,
    tenantId: subscription.tenantId,
    environmentId: subscription.environmentId,
    name: subscription.name,
    triggerKey: subscription.triggerKey,
    providerKey: subscription.providerKey,
    connectionId: subscription.connectionId,
    kind: subscription.kind,
    input: subscription.input as never,
    condition: subscription.condition,
    target: fromTarget(subscription.target),
    status: subscription.status,
    readyAt: optionalTime(subscription.readyAt),
    lastEventAt: optionalTime(subscription.lastEventAt),
    lastError: subscription.intakeError || subscription.deliveryError,
    ...(registration !== null && {
      registration: create(TriggerRegistrationSchema, {
        state: subscription.status === "expired" ? "expired" : registration.state,
        externalId: registration.externalId,
        expiresAt: optionalTime(registration.expiresAt),
        failures: registration.failures,
        nextAttemptAt: optionalTime(registration.dueAt),
      }),
    }),
    ...(subscription.kind === "poll" && {
      polling: create(TriggerPollingSchema, {
        lastCompletedAt: optionalTime(subscription.scannedAt),
        failures: subscription.pollFailures,
        nextPollAt: optionalTime(subscription.pollDueAt),
      }),
    }),
    callbackUrl: url,
    ...(urlKey !== undefined && { secretCallbackUrl: `${url}?${urlKeyParameter}=${urlKey}` }),
    ...stampFields(subscription),
  });
}

/** Converts an event to its message, with its payload if that is shown. */
export function fromEvent(event: TriggerEvent & { readonly payload?: Json }): EventMessage {
  const { payload, result } = event;
  return create(TriggerEventSchema, {
    id: event.id,
    tenantId: event.tenantId,
    subscriptionId: event.subscriptionId,
    type: event.type,
    dedupKey: event.dedupKey,
    status: event.status,
    ...(payload !== undefined && { payload: toValue(payload) }),
    attempts: event.attempts,
    nextAttemptAt: optionalTime(event.nextAttemptAt),
    lastError: event.lastError,
    ...(result !== null && { result: result as never }),
    replays: event.replays,
    receivedAt: optionalTime(event.receivedAt),
    endedAt: optionalTime(event.endedAt),
  });
}

function toValue(json: Json) {
  return fromJson(ValueSchema, json as JsonValue);
}
