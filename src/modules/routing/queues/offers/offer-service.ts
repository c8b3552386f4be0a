import type { Context } from "../../../../chain/call.ts";
import { type Failure, fail } from "../../../../errors/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolReader, PoolSnapshot } from "../../pools/index.ts";
import { requireRecipient, toLeaseRequest } from "../leasing/lease-message.ts";
import { canReceiveWork, type LeaseRequest, type LeaseService } from "../leasing/lease-service.ts";
import type { LeasedRow } from "../leasing/lease-store.ts";
import type { BeforeCommit } from "../leasing/limited-lease.ts";
import { readItemOffers } from "./item-offer-store.ts";
import { acceptedEvent, declinedEvent } from "./offer-events.ts";
import type { OfferEndListener } from "./offer-expiry.ts";
import {
  declineOffer,
  findAcceptedLease,
  type OfferRef,
  type OfferRefusal,
  readOfferStatus,
  recordAcceptance,
} from "./offer-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly pools: Pick<PoolReader, "requirePool">;
  readonly events: EventRecorder;
  readonly leaseService: Pick<LeaseService, "acceptOffer">;
  /** Called with each pool in which an item became ready. */
  readonly wake: (tenantId: string, poolId: string) => void;
  readonly onOfferEnded: OfferEndListener;
}

/** A recipient's answer to an offer. */
export interface OfferAnswer {
  readonly poolId: string;
  readonly queueItemId: string;
  readonly recipientId: string;
  readonly offerNumber: number;
}

/** The lease of an accepted offer. It is not new if the offer was accepted before. */
export interface AcceptedLease {
  readonly row: LeasedRow;
  readonly isNew: boolean;
}

export type OfferService = ReturnType<typeof createOfferService>;

export function createOfferService({ db, pools, events, leaseService, wake, onOfferEnded }: Dependencies) {
  /** Finds out why an open offer was not leased. A repeated acceptance gets the lease that it already has. */
  async function settleUnaccepted(offer: OfferRef, request: LeaseRequest, retryInMs = 1000): Promise<LeasedRow> {
    const accepted = await findAcceptedLease(db.sql, offer);
    if (accepted !== undefined) return accepted;
    const { isOpen, queueActive, held } = await readOfferStatus(db.sql, offer);
    if (!isOpen) throw offerLost();
    if (!queueActive)
      throw precondition("The queue is paused or its pool is disabled. Accept the offer when it is resumed.");
    if (request.capacity > 0 && held >= request.capacity) {
      throw precondition(
        `The recipient works on ${held} items, and its capacity is ${request.capacity}. Complete one, then accept the offer.`,
      );
    }
    throw fail("ROUTING_FAILED", {
      public:
        "The throttle or the concurrency limit of the pool has no room for the item. Accept the offer again later.",
      headers: { "retry-after": String(Math.ceil(retryInMs / 1000)) },
    });
  }

  return {
    /** Leases an offered item to its recipient. `beforeCommit` runs in the transaction of a new lease. */
    async acceptOffer(
      context: Context,
      snapshot: PoolSnapshot,
      answer: OfferAnswer & { readonly leaseS: number },
      beforeCommit: BeforeCommit,
    ): Promise<AcceptedLease> {
      const { recipientId, leaseS } = answer;
      const request = toLeaseRequest(context, { recipientId, leaseS, maxItems: 1, waitS: 0 }, snapshot);
      const recipient = requireRecipient(snapshot, recipientId)!;
      if (!canReceiveWork(recipient)) {
        throw precondition(
          `The recipient is ${recipient.status}. Only an active or draining recipient accepts offers.`,
        );
      }
      const offer = refOf(context, answer);
      const { rows, retryInMs } = await leaseService.acceptOffer(
        request,
        { itemId: offer.itemId, number: offer.number },
        async (tx, leased) => {
          const { attempt } = leased[0]!;
          const { nowMs, principal } = context;
          await recordAcceptance(tx, offer, attempt, principal.subject);
          await events.recordMany(tx, [acceptedEvent(offer, attempt)], nowMs, principal.subject);
          await beforeCommit(tx, leased);
        },
      );
      const [row] = rows;
      if (row === undefined) return { row: await settleUnaccepted(offer, request, retryInMs), isNew: false };
      onOfferEnded({ ...offer, outcome: "accepted" });
      return { row, isNew: true };
    },

    /** Declines an offer in the call's transaction. A repeated call returns the declined offer. */
    async declineOffer(context: Context, answer: OfferAnswer & Pick<OfferRefusal, "reasonCode" | "reason">) {
      const { sql, tenantId, principal } = context;
      requireRecipient(await pools.requirePool(context, answer.poolId), answer.recipientId);
      const offer = refOf(context, answer);
      const why = { reasonCode: answer.reasonCode, reason: answer.reason, by: principal.subject };
      if (await declineOffer(sql, offer, why)) {
        const { type, subject, data } = declinedEvent(offer, why);
        await events.record(context, type, subject, data);
        context.afterCommit(() => {
          onOfferEnded({ ...offer, outcome: "declined" });
          wake(tenantId, offer.poolId);
        });
      }
      const offers = (await readItemOffers(sql, tenantId, [offer.itemId])).get(offer.itemId) ?? [];
      const declined = offers.find(({ number }) => number === offer.number);
      if (declined?.state !== "declined" || declined.recipientId !== offer.recipientId) throw offerLost();
      return declined;
    },
  };
}

function refOf({ tenantId }: Context, { poolId, queueItemId, recipientId, offerNumber }: OfferAnswer): OfferRef {
  return { tenantId, poolId, itemId: queueItemId, recipientId, number: offerNumber };
}

function offerLost(): Failure {
  return fail("OFFER_LOST", {
    public: "The offer is no longer open, or it was made to another recipient. List the open offers of the recipient.",
  });
}

function precondition(text: string): Failure {
  return fail("FAILED_PRECONDITION", { public: text });
}
