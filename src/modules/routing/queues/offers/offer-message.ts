import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ItemOffer as ItemOfferMessage, ItemOfferSchema } from "../../../../../gen/service/api/item_offer_pb.ts";
import { type Offer as OfferMessage, OfferSchema } from "../../../../../gen/service/api/offer_pb.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { ItemOffer } from "../domain/queue-item.ts";
import type { OpenOffer } from "./offer-store.ts";

export function fromItemOffer(offer: ItemOffer): ItemOfferMessage {
  const { number, recipientId, state, offeredAt, expiresAt, endedAt, reasonCode, reason, endedBy } = offer;
  return create(ItemOfferSchema, {
    offerNumber: number,
    recipientId,
    state,
    offeredAt: timestampFromDate(offeredAt),
    expiresAt: optionalTime(expiresAt),
    endedAt: optionalTime(endedAt),
    reasonCode,
    reason,
    endedBy,
  });
}

/** Converts an open offer with its item. */
export function fromOpenOffer(offer: OpenOffer): OfferMessage {
  const { id, poolId, recipientId, offerNumber, type, key, attributes, payload, priority, attempt } = offer;
  return create(OfferSchema, {
    queueItemId: id,
    poolId,
    recipientId,
    offerNumber,
    offeredAt: timestampFromDate(offer.offeredAt),
    expiresAt: timestampFromDate(offer.dueAt),
    type,
    key,
    attributes,
    payload,
    priority,
    attempt,
    enqueuedAt: timestampFromMs(ulidMs(id)),
  });
}
