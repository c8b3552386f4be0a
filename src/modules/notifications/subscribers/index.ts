/**
 * Subscribers: those who are notified, and where they can be reached.
 *
 * external id: what the tenant calls a subscriber. profile: what the tenant says about it.
 * endpoint: an address of a subscriber on one channel. suppressed: not used any more, because the provider said that it
 * is gone for good, or that its owner unsubscribed or complained.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Channel, Endpoint } from "./domain/endpoint.ts";
import type { Subscriber, SubscriberId } from "./domain/subscriber.ts";
import { type EndpointHandlers, endpointHandlers } from "./endpoint-handler.ts";
import { type CheckConnection, createEndpointService } from "./endpoint-service.ts";
import { endpointStore } from "./endpoint-store.ts";
import { type SubscriberHandlers, subscriberHandlers } from "./subscriber-handler.ts";
import { createSubscriberService, type NamedProfile, type UpsertContext } from "./subscriber-service.ts";
import { subscriberStore } from "./subscriber-store.ts";

export type { Channel, Endpoint, NamedProfile, Subscriber, SubscriberId };

/** The door of the module. */
export interface Subscribers {
  /** SubscriberService without the operations on subscriptions, which the module of topics has. */
  readonly handlers: SubscriberHandlers & EndpointHandlers;
  /** A subscriber, active or not. */
  find(sql: Sql, tenantId: TenantId, id: string): Promise<Subscriber | undefined>;
  /** A subscriber by what the tenant calls it, active or not. */
  findByExternalId(sql: Sql, tenantId: TenantId, externalId: string): Promise<Subscriber | undefined>;
  /** Subscribers by id, active or not; those that are not there are left out. */
  findMany(sql: Sql, tenantId: TenantId, ids: readonly string[]): Promise<Map<string, Subscriber>>;
  /** Whom texts name, by id or else by external id; those that name nobody are left out. */
  identify(sql: Sql, tenantId: TenantId, names: readonly string[]): Promise<Map<string, SubscriberId>>;
  /** The ids of subscribers by what the tenant calls them, active or not; those that are not there are left out. */
  idsByExternalId(sql: Sql, tenantId: TenantId, externalIds: readonly string[]): Promise<Map<string, SubscriberId>>;
  /** Creates a subscriber or sets what is given of it, and makes it active; throws when what is given is invalid. */
  upsert(context: UpsertContext, profile: NamedProfile, newId?: SubscriberId): Promise<Subscriber>;
  /** The subscriber as an upsert would leave it, with the id that a new one is to get; nothing is written. */
  previewUpsert(context: Pick<UpsertContext, "sql" | "tenantId" | "nowMs">, profile: NamedProfile): Promise<Subscriber>;
  /** Where each of many subscribers can be reached, confirmed and suppressed or not, the oldest address first. */
  endpointsOf(
    sql: Sql,
    tenantId: TenantId,
    subscriberIds: readonly string[],
    channels?: readonly Channel[],
  ): Promise<Map<string, Endpoint[]>>;
  /**
   * Has addresses not be used any more: an endpoint until it is removed and added again, a profile's own until it is
   * changed.
   */
  suppress(sql: Sql, tenantId: TenantId, addresses: readonly UsedAddress[], nowMs: number): Promise<void>;
}

/** An address that a message was sent to. */
export interface UsedAddress {
  /** "" for an address that only the profile has. */
  readonly endpointId: string;
  readonly subscriberId: string;
  readonly channel: Channel;
  /** When the message was sent: the profile may have had another address then. */
  readonly usedAt: Date;
}

/** The fields of a profile that hold the address of a channel. */
const profileFields: Readonly<Partial<Record<Channel, "email" | "phone">>> = { email: "email", sms: "phone" };

function orderOf({ endpointId, subscriberId, channel }: UsedAddress): string {
  return endpointId === "" ? `profile ${subscriberId} ${channel}` : `endpoint ${endpointId}`;
}

interface Parts {
  readonly events: EventRecorder;
  readonly cursors: Cursors;
  readonly checkConnection: CheckConnection;
}

/** Makes the module. */
export function createSubscribers({ events, cursors, checkConnection }: Parts): Subscribers {
  const subscribers = createSubscriberService(events);
  const endpoints = createEndpointService(events, checkConnection);
  return {
    handlers: {
      ...subscriberHandlers(subscribers, cursors),
      ...endpointHandlers(endpoints, subscribers, cursors),
    },
    find: (sql, tenantId, id) => subscriberStore(sql).find(tenantId, id),
    findByExternalId: (sql, tenantId, externalId) => subscriberStore(sql).findByExternalId(tenantId, externalId),
    async findMany(sql, tenantId, ids) {
      const found = await subscriberStore(sql).findMany(tenantId, ids);
      return new Map(found.map((subscriber) => [subscriber.id, subscriber]));
    },
    async identify(sql, tenantId, names) {
      const found = await subscriberStore(sql).identify(tenantId, names);
      return new Map(found.map(({ name, id }) => [name, id]));
    },
    async idsByExternalId(sql, tenantId, externalIds) {
      const found = await subscriberStore(sql).idsByExternalId(tenantId, externalIds);
      return new Map(found.map(({ externalId, id }) => [externalId, id]));
    },
    upsert: subscribers.upsertSubscriber,
    previewUpsert: subscribers.previewUpsert,
    async endpointsOf(sql, tenantId, subscriberIds, channels) {
      const found = new Map<string, Endpoint[]>(subscriberIds.map((id) => [id, []]));
      for (const endpoint of await endpointStore(sql).ofSubscribers(tenantId, subscriberIds, channels)) {
        found.get(endpoint.subscriberId)!.push(endpoint);
      }
      return found;
    },
    async suppress(sql, tenantId, addresses, nowMs) {
      const now = new Date(nowMs);
      // In one order everywhere, so that two transactions never wait for each other.
      const sorted = addresses.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
      for (const { endpointId, subscriberId, channel, usedAt } of sorted) {
        const field = profileFields[channel];
        if (endpointId !== "") await endpointStore(sql).suppress(tenantId, endpointId, now);
        else if (field !== undefined) await subscriberStore(sql).suppress(tenantId, subscriberId, field, usedAt, now);
      }
    },
  };
}
