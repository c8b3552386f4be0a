// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";
import type { ItemOffer } from "./item-offer.ts";
import type { LeasedItem } from "./work.ts";

/** Offers: in a pool with reservations, a recipient accepts or declines an item before it works on it. */
export interface OfferService {
  /** Lists the open offers of a pool, oldest item first. With wait_s, waits while there are none, and returns an empty list at the latest after that time. */
  list(request: ListOffersRequest, options?: CallOptions): List<Offer>;

  /** Accepts an offer: the item is leased to the recipient. A repeated call returns the same lease while it is held. */
  accept(request: AcceptOfferRequest, options?: CallOptions): Promise<LeasedItem>;

  /** Declines an offer: the item goes to the next recipient. It uses up no attempt. */
  decline(request: DeclineOfferRequest, options?: CallOptions): Promise<ItemOffer>;
}

const offerServiceOperations = {
  list: { verb: "GET", path: "/api/queues/{pool_id}/offers", result: "cursor" },
  accept: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/accept", body: "*", keyed: true },
  decline: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/decline", body: "*", keyed: true },
} as const satisfies Record<keyof OfferService, Operation>;

/** Creates the service over a transport. */
export function createOfferService(transport: Transport): OfferService {
  return bindOperations<OfferService>(transport, offerServiceOperations);
}

/** Request for a page of open offers. */
export type ListOffersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The pool. */
  readonly pool_id: string;
  /** Only offers to this recipient. */
  readonly recipient_id?: string;
  /** Seconds to wait for an offer while there is none. Only the first page waits. */
  readonly wait_s?: number;
};

/** An open offer, with the item that is offered. */
export type Offer = {
  /** The item. */
  readonly queue_item_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** The recipient that may accept it. */
  readonly recipient_id: string;
  /** The number of the offer among those of the item, from 1. It must be sent to accept or decline the offer. */
  readonly offer_number: number;
  /** When it was made. */
  readonly offered_at?: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** The item's type. */
  readonly type: string;
  /** The item's key. */
  readonly key: string;
  /** The attributes for rules. */
  readonly attributes?: JsonObject;
  /** The payload for the worker. */
  readonly payload?: JsonObject;
  /** The item's priority. */
  readonly priority: number;
  /** The number of attempts that were started before. */
  readonly attempt: number;
  /** When the item was accepted by the service. */
  readonly enqueued_at?: string;
};

/** Accepts an offer. */
export type AcceptOfferRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The recipient that accepts it: the one that the offer was made to. */
  readonly recipient_id: string;
  /** The number of the offer. */
  readonly offer_number: number;
  /** Seconds until the lease expires; the pool's value when 0. */
  readonly lease_s?: number;
};

/** Declines an offer. */
export type DeclineOfferRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The recipient that declines it: the one that the offer was made to. */
  readonly recipient_id: string;
  /** The number of the offer. */
  readonly offer_number: number;
  /** A stable code for the reason. */
  readonly reason_code?: string;
  /** The message for people. */
  readonly reason?: string;
};
