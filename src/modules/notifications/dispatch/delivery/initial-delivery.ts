import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { NotificationWorkflow, Preferences } from "../../preferences/index.ts";
import { type PlannedDelivery, planDeliveries } from "../domain/plan.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { Kept, NotSent, Prepare, Prepared, Way, Work } from "../message/message-preparation.ts";
import type { Recipient } from "../message/recipients.ts";
import type { DeliveryRow } from "./delivery-store.ts";

/** What all recipients of a trigger have in common. */
export interface Occasion extends Pick<Trigger, "workflowKey" | "channels" | "overrides" | "userId" | "payload"> {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly topicKey: string;
  readonly workflow: NotificationWorkflow | undefined;
  readonly nowMs: number;
  /** Under which what a provider is to get is sent at once; undefined when it is to wait in the queue. */
  readonly leaseToken: string | undefined;
}

/** One message as it begins: planned, and put into words where it is to go out at once. */
export interface Begun {
  readonly plan: PlannedDelivery;
  readonly work: Work;
  readonly prepared: Prepared | undefined;
  readonly row: DeliveryRow;
}

interface Parts {
  readonly preferences: Pick<Preferences, "resolve">;
  readonly prepare: Prepare;
  readonly verifiedOnly: boolean;
}

/** Decides what one recipient gets on an occasion. */
export async function begin(
  { preferences, prepare, verifiedOnly }: Parts,
  occasion: Occasion,
  { subscriber, endpoints, layers }: Recipient,
  contextKeys: readonly string[],
): Promise<Begun[]> {
  const { workflow, overrides, channels: asked, payload, userId, topicKey, nowMs } = occasion;
  const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
  const resolutions = preferences.resolve({ ...about, channels: asked });
  const plans = planDeliveries({ workflow, overrides, asked, subscriber, endpoints, resolutions, verifiedOnly });
  const begun: Begun[] = [];
  for (const plan of plans) {
    const { tenantId, transactionId, workflowKey } = occasion;
    const delivery = { tenantId, id: ulid(nowMs), transactionId, workflowKey, channel: plan.channel, keyGeneration: 0 };
    const work: Work = { delivery, target: plan.target, subscriber, workflow, overrides, payload, onlyBy: "" };
    const isNow = plan.skipped === undefined && (occasion.leaseToken !== undefined || plan.channel === "in_app");
    const prepared = isNow ? await prepare(work) : undefined;
    begun.push({ plan, work, prepared, row: rowOf(occasion, plan, work, prepared, contextKeys) });
  }
  return begun;
}

function rowOf(
  { leaseToken, nowMs }: Occasion,
  plan: PlannedDelivery,
  { delivery, target, subscriber }: Work,
  prepared: Prepared | undefined,
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
  };
  if (plan.skipped !== undefined) {
    return { ...base, status: "skipped", ...(plan.skipped !== "preference" && failureFields(plan.skipped)) };
  }
  if (prepared === undefined) return { ...base, status: "queued" };
  switch (prepared.kind) {
    case "outgoing":
      return { ...base, ...wayFields(prepared.way), status: "running", lease_token: leaseToken! };
    case "kept":
      return { ...base, ...wayFields(prepared), status: "sent", ...keptFields(prepared) };
    case "failed":
      if (prepared.retryable) return { ...base, status: "queued", ...failureFields(prepared.failure) };
      return {
        ...base,
        ...wayFields(prepared),
        status: "failed",
        ...failureFields(prepared.failure),
        dead_letter_id: ulid(nowMs),
      };
  }
}

/** By which way a message goes, as it is written down. */
export function wayFields({ integrationId, providerKey, connectionId, layoutId, layoutVersion }: Way) {
  return {
    provider_key: providerKey,
    ...(integrationId !== "" && { integration_id: integrationId }),
    ...(connectionId !== "" && { connection_id: connectionId }),
    ...(layoutId !== "" && { layout_id: layoutId, layout_version: layoutVersion }),
  };
}

/** What the inbox or the outbox gets, as it is written down. */
export function keptFields({ as, message, recipient }: Kept) {
  const { subject, title, text, html, data } = message;
  return {
    kept_in: as,
    title: as === "inbox" ? title || subject : title,
    body: text,
    ...(Object.keys(data).length > 0 && { data }),
    ...(as === "outbox" && { recipient, subject, html }),
  };
}

/** Why something was not sent, as it is written down. */
export function failureFields({ phase, code, detail }: NotSent["failure"]) {
  return { failure_phase: phase, failure_code: code, failure_detail: detail.slice(0, 256).toWellFormed() };
}
