import { hash } from "node:crypto";
import type { DeliveryBatch } from "../delivery/delivery-store.ts";
import type { InitialDelivery, TriggerContext } from "../delivery/initial-delivery.ts";
import type { SerializedPayload } from "../domain/trigger.ts";

/** The deliveries of a trigger as they are stored. Its payload is stored only while a delivery may be sent later. */
export function deliveryBatchOf(
  { tenantId, transactionId, workflowKey, userId, nowMs }: TriggerContext,
  initial: readonly InitialDelivery[],
  { body, text }: SerializedPayload,
  payloadRetentionMs: number,
): Omit<DeliveryBatch, "record"> {
  const isOpen = initial.some(
    ({ row }) => row.status === "running" || row.status === "queued" || row.dead_letter_id !== undefined,
  );
  return {
    tenantId,
    transactionId,
    broadcastId: "",
    workflowKey,
    topicKey: "",
    userId,
    lane: "single",
    at: new Date(nowMs),
    payload: isOpen
      ? { body, digest: hash("sha256", text, "hex"), expiresAt: new Date(nowMs + payloadRetentionMs) }
      : undefined,
    rows: initial.map(({ row }) => row),
  };
}
