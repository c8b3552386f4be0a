import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { NotificationWorkflow, Preferences } from "../../preferences/index.ts";
import { describeAttachment } from "../../preferences/index.ts";
import { type PlannedDelivery, planDeliveries } from "../domain/plan.ts";
import type { Trigger } from "../domain/trigger.ts";
import type {
  FailedMessage,
  MessagePreparer,
  PreparedMessage,
  Route,
  SendRequest,
  StoredMessage,
} from "../message/message-preparation.ts";
import type { Recipient } from "../message/recipients.ts";
import type { DeliveryRow } from "./delivery-store.ts";

/** The trigger data that all recipients share. */
export interface TriggerContext extends Pick<Trigger, "workflowKey" | "channels" | "overrides" | "userId" | "payload"> {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly topicKey: string;
  readonly workflow: NotificationWorkflow | undefined;
  readonly nowMs: number;
  /** The lease for sending immediately; undefined when deliveries wait in the queue. */
  readonly leaseToken: string | undefined;
  /** The run and the step that send it; all its deliveries wait in the queue. */
  readonly run?: { readonly id: string; readonly stepKey: string };
}

/** A new delivery: its plan, its row and, if it is sent immediately, its prepared message. */
export interface InitialDelivery {
  readonly plan: PlannedDelivery;
  readonly request: SendRequest;
  readonly prepared: PreparedMessage | undefined;
  readonly row: DeliveryRow;
}

interface Dependencies {
  readonly preferences: Pick<Preferences, "resolve">;
  readonly prepare: MessagePreparer;
  readonly verifiedOnly: boolean;
  /** Whether messages can be held until quiet hours end. */
  readonly holds: boolean;
}

/** Plans a trigger's deliveries to one recipient and prepares those that are sent immediately. */
export async function createInitialDeliveries(
  { preferences, prepare, verifiedOnly, holds }: Dependencies,
  triggerContext: TriggerContext,
  { subscriber, endpoints, layers }: Recipient,
  contextKeys: readonly string[],
): Promise<InitialDelivery[]> {
  const { workflow, overrides, channels: requestedChannels, payload, userId, topicKey, nowMs } = triggerContext;
  const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
  const resolutions = preferences.resolve({ ...about, channels: requestedChannels });
  const plans = planDeliveries({
    workflow,
    overrides,
    requestedChannels,
    subscriber,
    endpoints,
    resolutions,
    verifiedOnly,
    holds,
  });
  const deliveries: InitialDelivery[] = [];
  for (const plan of plans) {
    const { tenantId, transactionId, workflowKey } = triggerContext;
    const stepKey = triggerContext.run?.stepKey ?? "";
    const own = { tenantId, id: ulid(nowMs), transactionId, workflowKey, channel: plan.channel };
    const delivery = { ...own, keyGeneration: 0, stepKey };
    const request: SendRequest = {
      delivery,
      target: plan.target,
      subscriber,
      workflow,
      overrides,
      payload,
      digest: undefined,
      onlyIntegrationId: "",
    };
    const mayBeImmediate = plan.skipped === undefined && plan.heldUntilMs === undefined && !triggerContext.run;
    const isImmediate = mayBeImmediate && (triggerContext.leaseToken !== undefined || plan.channel === "in_app");
    const prepared = isImmediate ? await prepare(request) : undefined;
    deliveries.push({ plan, request, prepared, row: rowOf(triggerContext, plan, request, prepared, contextKeys) });
  }
  return deliveries;
}

function rowOf(
  { leaseToken, nowMs, run }: TriggerContext,
  plan: PlannedDelivery,
  { delivery, target, subscriber }: SendRequest,
  prepared: PreparedMessage | undefined,
  contextKeys: readonly string[],
): DeliveryRow {
  const base = {
    id: delivery.id,
    subscriber_id: subscriber.id,
    channel: plan.channel,
    reason: plan.reasonCode,
    ...(plan.winningLayer > 0 && { layer: plan.winningLayer }),
    ...(target.endpointId !== "" && { endpoint_id: target.endpointId }),
    ...(contextKeys.length > 0 && { context_keys: contextKeys }),
    ...(run !== undefined && { run_id: run.id, step_key: run.stepKey }),
  };
  if (plan.skipped !== undefined) {
    return { ...base, status: "skipped", ...(plan.skipped !== "preference" && failureFields(plan.skipped)) };
  }
  if (plan.heldUntilMs !== undefined) {
    return { ...base, status: "queued", next_attempt_at: new Date(plan.heldUntilMs) };
  }
  if (prepared === undefined) return { ...base, status: "queued" };
  switch (prepared.kind) {
    case "outgoing":
      return { ...base, ...routeFields(prepared.route), status: "running", lease_token: leaseToken! };
    case "stored":
      return { ...base, ...routeFields(prepared), status: "sent", ...storedFields(prepared) };
    case "failed":
      if (prepared.retryable) return { ...base, status: "queued", ...failureFields(prepared.failure) };
      return {
        ...base,
        ...routeFields(prepared),
        status: "failed",
        ...failureFields(prepared.failure),
        dead_letter_id: ulid(nowMs),
      };
  }
}

/** Converts a route to row fields. */
export function routeFields({ integrationId, providerKey, connectionId, layoutId, layoutVersion }: Route) {
  return {
    provider_key: providerKey,
    ...(integrationId !== "" && { integration_id: integrationId }),
    ...(connectionId !== "" && { connection_id: connectionId }),
    ...(layoutId !== "" && { layout_id: layoutId, layout_version: layoutVersion }),
  };
}

/** Converts a message for the inbox or outbox to row fields. */
export function storedFields({ as, message, recipient }: StoredMessage) {
  const { subject, title, text, html, attachments } = message;
  // The outbox tells which files would be attached, without their content.
  const data =
    attachments.length === 0 ? message.data : { ...message.data, attachments: attachments.map(describeAttachment) };
  return {
    stored_in: as,
    title: as === "inbox" ? title || subject : title,
    body: text,
    ...(Object.keys(data).length > 0 && { data }),
    ...(as === "outbox" && { recipient, subject, html }),
  };
}

/** Converts a failure to row fields. */
export function failureFields({ phase, code, detail }: FailedMessage["failure"]) {
  return { failure_phase: phase, failure_code: code, failure_detail: detail.slice(0, 256).toWellFormed() };
}
