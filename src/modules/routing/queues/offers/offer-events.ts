import type { EventEntry } from "../../../operations/index.ts";
import type { OfferRef, OfferRefusal } from "./offer-store.ts";

/** The event of an offer that was made. */
export function offeredEvent(offer: OfferRef, expiresAt: Date): EventEntry {
  return eventOf("queue.item.offered", offer, { expires_at: expiresAt.toISOString() });
}

/** The event of an offer that was accepted. */
export function acceptedEvent(offer: OfferRef, attempt: number): EventEntry {
  return eventOf("queue.item.offer_accepted", offer, { attempt });
}

/** The event of an offer that was declined. */
export function declinedEvent(offer: OfferRef, { reasonCode, reason }: OfferRefusal): EventEntry {
  return eventOf("queue.item.offer_declined", offer, { reason_code: reasonCode, reason });
}

export function expiredEvent(offer: OfferRef): EventEntry {
  return eventOf("queue.item.offer_expired", offer, {});
}

function eventOf(type: EventEntry["type"], offer: OfferRef, data: Record<string, unknown>): EventEntry {
  const { tenantId, poolId, itemId, recipientId, number } = offer;
  return {
    tenantId,
    type,
    subject: itemId,
    data: { pool_id: poolId, recipient_id: recipientId, offer_number: number, ...data },
  };
}
