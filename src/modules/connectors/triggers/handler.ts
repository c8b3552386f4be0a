import { create } from "@bufbuild/protobuf";
import {
  CreateTriggerSubscriptionResponseSchema,
  DeleteTriggerSubscriptionResponseSchema,
  GetTriggerEventResponseSchema,
  GetTriggerSubscriptionResponseSchema,
  ListTriggerEventsResponseSchema,
  ListTriggerSubscriptionsResponseSchema,
  PauseTriggerSubscriptionResponseSchema,
  ReplayTriggerEventResponseSchema,
  ReplayTriggerEventsResponseSchema,
  ResumeTriggerSubscriptionResponseSchema,
  type TriggerSubscriptionService as Rpc,
  UpdateTriggerSubscriptionResponseSchema,
} from "../../../../gen/service/api/trigger_subscription_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import type { TriggerEvent } from "./domain/event.ts";
import type { Subscription } from "./domain/subscription.ts";
import type { EventService, ReplayRange } from "./events/event-service.ts";
import { eventStore } from "./events/event-store.ts";
import type { SubscriptionService } from "./subscriptions/subscription-service.ts";
import { subscriptionStore } from "./subscriptions/subscription-store.ts";
import { fromEvent, fromSubscription, toTarget } from "./trigger-message.ts";

interface Dependencies {
  readonly subscriptions: SubscriptionService;
  readonly events: EventService;
  readonly cursors: Cursors;
  readonly publicUrl: () => string;
}

export function triggerHandlers({ subscriptions, events, cursors, publicUrl }: Dependencies): Handlers<typeof Rpc> {
  const shown = (subscription: Subscription) => ({ subscription: fromSubscription(subscription, publicUrl()) });
  return {
    async createTriggerSubscription(context, request) {
      const { name, triggerKey, connectionId, environmentId, input, condition, target, signingSecret } = request;
      const { subscription, urlKey } = await subscriptions.createSubscription(context, {
        ...{ name, triggerKey, connectionId, environmentId, condition, signingSecret },
        input: (input ?? {}) as JsonObject,
        target: toTarget(target) ?? { kind: "record" },
      });
      return create(CreateTriggerSubscriptionResponseSchema, {
        subscription: fromSubscription(subscription, publicUrl(), urlKey),
      });
    },

    async getTriggerSubscription(context, { subscriptionId }) {
      const subscription = await subscriptions.getSubscription(context, subscriptionId);
      return create(GetTriggerSubscriptionResponseSchema, shown(subscription));
    },

    async listTriggerSubscriptions({ tenantId, operation, sql, principal }, request) {
      const { connectionId, triggerKey, status } = request;
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [connectionId, triggerKey, status, inProduction] },
        ({ id }: Subscription) => id,
        (wanted) => subscriptionStore(sql).list(tenantId, { connectionId, triggerKey, status, inProduction }, wanted),
      );
      const items = page.items.map((each) => fromSubscription(each, publicUrl()));
      return create(ListTriggerSubscriptionsResponseSchema, { ...page, subscriptions: items });
    },

    async updateTriggerSubscription(context, request) {
      const { subscriptionId, name, input, condition, target, signingSecret, recordVersion } = request;
      const change = {
        name,
        input: input as JsonObject | undefined,
        condition,
        target: toTarget(target),
        signingSecret,
      };
      const version = expectedVersion(recordVersion);
      const subscription = await subscriptions.updateSubscription(context, subscriptionId, change, version);
      return create(UpdateTriggerSubscriptionResponseSchema, shown(subscription));
    },

    async pauseTriggerSubscription(context, { subscriptionId }) {
      const subscription = await subscriptions.pauseSubscription(context, subscriptionId);
      return create(PauseTriggerSubscriptionResponseSchema, shown(subscription));
    },

    async resumeTriggerSubscription(context, { subscriptionId }) {
      const subscription = await subscriptions.resumeSubscription(context, subscriptionId);
      return create(ResumeTriggerSubscriptionResponseSchema, shown(subscription));
    },

    async deleteTriggerSubscription(context, { subscriptionId }) {
      const subscription = await subscriptions.deleteSubscription(context, subscriptionId);
      return create(DeleteTriggerSubscriptionResponseSchema, shown(subscription));
    },

    async listTriggerEvents({ tenantId, operation, sql, principal }, request) {
      const { subscriptionId, status } = request;
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [subscriptionId, status, inProduction] },
        ({ id }: TriggerEvent) => id,
        (wanted) => eventStore(sql).list(tenantId, { subscriptionId, status, inProduction }, wanted),
      );
      return create(ListTriggerEventsResponseSchema, { ...page, events: page.items.map(fromEvent) });
    },

    async getTriggerEvent(context, { eventId }) {
      return create(GetTriggerEventResponseSchema, { event: fromEvent(await events.getEvent(context, eventId)) });
    },

    async replayTriggerEvent(context, { eventId }) {
      return create(ReplayTriggerEventResponseSchema, { event: fromEvent(await events.replayEvent(context, eventId)) });
    },

    async replayTriggerEvents(context, { subscriptionId, from, to, status }) {
      const range = { from: dateOf(from!), to: dateOf(to!), status: (status || "dead") as ReplayRange["status"] };
      return create(ReplayTriggerEventsResponseSchema, await events.replayEvents(context, subscriptionId, range));
    },
  };
}
