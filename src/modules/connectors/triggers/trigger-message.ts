import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { TriggerTarget as TargetMessage } from "../../../../gen/service/api/trigger_subscription_pb.ts";
import { invalid } from "../../../errors/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
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

function fromTarget(target: Target) {
  if (target.kind === "workflow") return { workflow: target };
  return target.kind === "route" ? { route: target.request } : { record: {} };
}

/** Converts a subscription to its message. The secret part of its URL is shown once. */
export function fromSubscription(subscription: Subscription, publicUrl: string, urlKey?: string) {
  const { kind, status, target, registration, scannedAt, pollFailures, pollDueAt } = subscription;
  const callbackUrl = kind === "webhook" ? `${publicUrl}${callbackPath(subscription)}` : "";
  return {
    ...{ ...subscription, callbackUrl, target: fromTarget(target) },
    lastError: subscription.intakeError || subscription.deliveryError,
    registration: registration && {
      ...registration,
      state: status === "expired" ? "expired" : registration.state,
      nextAttemptAt: registration.dueAt,
    },
    polling:
      kind === "poll" ? { lastCompletedAt: scannedAt, failures: pollFailures, nextPollAt: pollDueAt } : undefined,
    secretCallbackUrl: urlKey === undefined ? undefined : `${callbackUrl}?${urlKeyParameter}=${urlKey}`,
  };
}
