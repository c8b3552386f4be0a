import type { Database } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { OfferState } from "../domain/queue-item.ts";
import { expiredEvent } from "./offer-events.ts";
import { type ExpiredOffer, expireOffers, type Offeree } from "./offer-store.ts";

export interface OfferEnd extends Offeree {
  readonly outcome: Exclude<OfferState, "open">;
}

/** Called with each offer that ended, after the commit. */
export type OfferEndListener = (end: OfferEnd) => void;

interface Dependencies {
  readonly db: Database;
  readonly events: EventRecorder;
  readonly now: () => number;
  readonly onOfferEnded: OfferEndListener;
}

/** Creates the expiry of offers: ends those that were not answered in time, with their events; returns them. */
export function createOfferExpiry({ db, events, now, onOfferEnded }: Dependencies) {
  return async (limit: number): Promise<readonly ExpiredOffer[]> => {
    const expired = await db.transaction(async (tx) => {
      const expired = await expireOffers(tx, limit);
      const refused = expired.filter(({ withdrawn }) => !withdrawn);
      await events.recordMany(tx, refused.map(expiredEvent), now());
      return expired;
    });
    for (const { tenantId, poolId, recipientId, withdrawn } of expired) {
      onOfferEnded({ tenantId, poolId, recipientId, outcome: withdrawn ? "withdrawn" : "expired" });
    }
    return expired;
  };
}
