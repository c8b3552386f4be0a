/**
 * Subscribers: the recipients of notifications and their addresses.
 *
 * external id: the tenant's own id of a subscriber. profile: the tenant's data about a subscriber.
 * endpoint: an address of a subscriber on one channel. suppression: an address that nothing is sent to, because a provider
 * reported that it is permanently unreachable, or that its owner unsubscribed or complained, or because a caller said so. token: a
 * credential with which the web page of a subscriber uses its inbox and its preferences.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Channel, Endpoint } from "./domain/endpoint.ts";
import type { Subscriber, SubscriberId, SubscriberUpsert } from "./domain/subscriber.ts";
import { endpointHandlers } from "./endpoint-handler.ts";
import { type CheckConnection, createEndpointService } from "./endpoint-service.ts";
import { endpointStore } from "./endpoint-store.ts";
import { createSubscriberBatchService } from "./subscriber-batch-service.ts";
import { subscriberHandlers } from "./subscriber-handler.ts";
import { createSubscriberService, type SubscriberListener } from "./subscriber-service.ts";
import { subscriberStore } from "./subscriber-store.ts";
import type { SuppressionReason, UsedAddress } from "./suppressions/domain/suppression.ts";
import { suppressionHandlers } from "./suppressions/suppression-handler.ts";
import { createSuppressionService } from "./suppressions/suppression-service.ts";

export { createSubscriberTokens, type SubscriberTokens } from "./tokens/subscriber-tokens.ts";
export type { Channel, Endpoint, Subscriber, SubscriberId, SubscriberUpsert, SuppressionReason, UsedAddress };

/** The module's public API. */
export type Subscribers = ReturnType<typeof createSubscribers>;

interface Dependencies {
  readonly events: EventRecorder;
  readonly checkConnection: CheckConnection;
  /** Called after the commit that deactivates a subscriber. */
  readonly onDeactivated?: SubscriberListener;
}

export function createSubscribers({ events, checkConnection, onDeactivated }: Dependencies) {
  const subscribers = createSubscriberService(events, onDeactivated);
  const batches = createSubscriberBatchService(events);
  const suppressions = createSuppressionService(events);
  const endpoints = createEndpointService(events, checkConnection, suppressions);
  return {
    /** SubscriberService operations, except those on subscriptions (topics) and preferences. */
    handlers: { ...subscriberHandlers(subscribers, batches), ...endpointHandlers(endpoints, subscribers) },
    suppressionHandlers: suppressionHandlers(suppressions),
    /** Deactivates a subscriber and revokes its tokens; throws if there is none. */
    deactivate: subscribers.deleteSubscriber,
    /** A subscriber, active or not. */
    find: (sql: Sql, tenantId: TenantId, id: string) => subscriberStore(sql).find(tenantId, id),
    /** A subscriber by external id, active or not. */
    findByExternalId: (sql: Sql, tenantId: TenantId, externalId: string) =>
      subscriberStore(sql).findByExternalId(tenantId, externalId),
    /** Subscribers by id, active or not; unknown ids are omitted. */
    async findMany(sql: Sql, tenantId: TenantId, ids: readonly string[]): Promise<Map<string, Subscriber>> {
      const found = await subscriberStore(sql).findMany(tenantId, ids);
      return new Map(found.map((subscriber) => [subscriber.id, subscriber]));
    },
    /** The subscriber ids of names, each an id or else an external id; unknown names are omitted. */
    async resolveIds(sql: Sql, tenantId: TenantId, names: readonly string[]): Promise<Map<string, SubscriberId>> {
      const found = await subscriberStore(sql).resolveIds(tenantId, names);
      return new Map(found.map(({ name, id }) => [name, id]));
    },
    /** Subscriber ids by external id, active or not; unknown external ids are omitted. */
    async idsByExternalId(sql: Sql, tenantId: TenantId, externalIds: readonly string[]) {
      const found = await subscriberStore(sql).idsByExternalId(tenantId, externalIds);
      return new Map(found.map(({ externalId, id }) => [externalId, id]));
    },
    /** Creates a subscriber or sets the given fields, and activates it by default; throws when a field is invalid. */
    upsert: subscribers.upsertSubscriber,
    /**
     * The subscriber as an upsert that keeps deleted ones would leave it, with the id that a new one would get; nothing is
     * written.
     */
    previewUpsert: subscribers.previewUpsert,
    /** Creates or changes many subscribers in a transaction; new ones get the given ids, by external id. */
    upsertMany: batches.upsertMany,
    /** The subscribers as a batch would leave them, or why an item would fail, by external id; nothing is written. */
    previewMany: batches.previewMany,
    /** The endpoints of many subscribers, verified and suppressed or not, oldest first. */
    async endpointsOf(sql: Sql, tenantId: TenantId, subscriberIds: readonly string[], channels?: readonly Channel[]) {
      const found = new Map<string, Endpoint[]>(subscriberIds.map((id) => [id, []]));
      for (const endpoint of await endpointStore(sql).ofSubscribers(tenantId, subscriberIds, channels)) {
        found.get(endpoint.subscriberId)!.push(endpoint);
      }
      return found;
    },
    /** Suppresses the addresses that messages were sent to, until the suppressions are removed. */
    suppress: suppressions.suppress,
  };
}
