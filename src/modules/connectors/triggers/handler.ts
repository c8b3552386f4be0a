import type { TriggerSubscriptionService as Rpc } from "../../../../gen/service/api/trigger_subscription_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import type { Subscription } from "./domain/subscription.ts";
import type { EventService, ReplayRange } from "./events/event-service.ts";
import { eventStore } from "./events/event-store.ts";
import type { SubscriptionService } from "./subscriptions/subscription-service.ts";
import { subscriptionStore } from "./subscriptions/subscription-store.ts";
import { fromSubscription, toTarget } from "./trigger-message.ts";

interface Dependencies {
  readonly subscriptions: SubscriptionService;
  readonly events: EventService;
  readonly publicUrl: () => string;
}

export function triggerHandlers({ subscriptions, events, publicUrl }: Dependencies): Handlers<typeof Rpc> {
  const shown = (subscription: Subscription) => ({ subscription: fromSubscription(subscription, publicUrl()) });
  return {
    async createTriggerSubscription(context, request) {
      const { name, triggerKey, connectionId, environmentId, input, condition, target, signingSecret } = request;
      const { subscription, urlKey } = await subscriptions.createSubscription(context, {
        ...{ name, triggerKey, connectionId, environmentId, condition, signingSecret },
        input: (input ?? {}) as JsonObject,
        target: toTarget(target) ?? { kind: "record" },
      });
      return { subscription: fromSubscription(subscription, publicUrl(), urlKey) };
    },

    async getTriggerSubscription(context, { subscriptionId }) {
      return shown(await subscriptions.getSubscription(context, subscriptionId));
    },

    async listTriggerSubscriptions(context, request) {
      const { connectionId, triggerKey, status } = request;
      const filter = { connectionId, triggerKey, status, inProduction: productionOf(context.principal) };
      const page = await context.page("subscriptions", request, Object.values(filter), (wanted) =>
        subscriptionStore(context.sql).list(context.tenantId, filter, wanted),
      );
      return { ...page, subscriptions: page.subscriptions.map((each) => fromSubscription(each, publicUrl())) };
    },

    async updateTriggerSubscription(context, request) {
      const { subscriptionId, name, input, condition, target, signingSecret, recordVersion } = request;
      // Events name the changed fields in this order.
      const newInput = input as JsonObject | undefined;
      const change = { name, input: newInput, condition, target: toTarget(target), signingSecret };
      const version = expectedVersion(recordVersion);
      const subscription = await subscriptions.updateSubscription(context, subscriptionId, change, version);
      return shown(subscription);
    },

    async pauseTriggerSubscription(context, { subscriptionId }) {
      return shown(await subscriptions.pauseSubscription(context, subscriptionId));
    },

    async resumeTriggerSubscription(context, { subscriptionId }) {
      return shown(await subscriptions.resumeSubscription(context, subscriptionId));
    },

    async deleteTriggerSubscription(context, { subscriptionId }) {
      return shown(await subscriptions.deleteSubscription(context, subscriptionId));
    },

    listTriggerEvents(context, request) {
      const { subscriptionId, status } = request;
      const filter = { subscriptionId, status, inProduction: productionOf(context.principal) };
      return context.page("events", request, Object.values(filter), (wanted) =>
        eventStore(context.sql).list(context.tenantId, filter, wanted),
      );
    },

    getTriggerEvent: async (context, { eventId }) => ({ event: await events.getEvent(context, eventId) }),

    replayTriggerEvent: async (context, { eventId }) => ({ event: await events.replayEvent(context, eventId) }),

    replayTriggerEvents(context, { subscriptionId, from, to, status }) {
      const range = { from: dateOf(from!), to: dateOf(to!), status: (status || "dead") as ReplayRange["status"] };
      return events.replayEvents(context, subscriptionId, range);
    },
  };
}
