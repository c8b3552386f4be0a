import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { ItemOffer } from "../domain/queue-item.ts";
import type { OpenOffer } from "./offer-store.ts";

export const fromItemOffer = ({ number, ...offer }: ItemOffer) => ({ ...offer, offerNumber: number });

/** Converts an open offer with its item. */
export const fromOpenOffer = ({ id, dueAt, ...offer }: OpenOffer) => ({
  ...offer,
  queueItemId: id,
  expiresAt: dueAt,
  enqueuedAt: timestampFromMs(ulidMs(id)),
});
