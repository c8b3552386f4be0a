import { hash } from "node:crypto";
import { longestRunMs } from "../../preferences/index.ts";
import type { DeliveryBatch } from "../delivery/delivery-store.ts";
import type { InitialDelivery, TriggerContext } from "../delivery/initial-delivery.ts";
import type { SerializedPayload } from "../domain/trigger.ts";
import type { RunRow } from "../runs/run-store.ts";

/**
 * The deliveries of a trigger, or its run, as they are stored. Its payload is stored only while a delivery may be sent
 * later.
 */
export function deliveryBatchOf(
  triggerContext: TriggerContext,
  initial: readonly InitialDelivery[],
  run: RunRow | undefined,
  { body, text }: SerializedPayload,
  payloadRetentionMs: number,
): Omit<DeliveryBatch, "record"> {
  const { tenantId, transactionId, workflowKey, userId, nowMs } = triggerContext;
  const mayBeSent = ({ row }: InitialDelivery) =>
    row.status === "running" || row.status === "queued" || row.dead_letter_id !== undefined;
  const isOpen = run !== undefined || initial.some(mayBeSent);
  const expiresAt = new Date(lastUseMs(triggerContext, initial) + payloadRetentionMs);
  return {
    tenantId,
    transactionId,
    broadcastId: "",
    workflowKey,
    topicKey: "",
    userId,
    lane: "single",
    at: new Date(nowMs),
    payload: isOpen ? { body, digest: hash("sha256", text, "hex"), expiresAt } : undefined,
    rows: initial.map(({ row }) => row),
    ...(run !== undefined && { runs: [run] }),
  };
}

/** The last time at which the payload may be needed for a first attempt. */
function lastUseMs({ workflow, nowMs }: TriggerContext, initial: readonly InitialDelivery[]): number {
  const heldUntilMs = Math.max(nowMs, ...initial.map(({ plan }) => plan.heldUntilMs ?? nowMs));
  return heldUntilMs + longestRunMs(workflow?.steps ?? []);
}
