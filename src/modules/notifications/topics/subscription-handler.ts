import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeleteSubscriptionResponseSchema,
  ListSubscriptionsResponseSchema,
  type SubscriberService as Rpc,
  UpsertSubscriptionResponseSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import { type Subscription as SubscriptionMessage, SubscriptionSchema } from "../../../../gen/service/api/topic_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import type { Subscription } from "./domain/subscription.ts";
import { subscriptionStore } from "./subscription-store.ts";
import type { TopicService } from "./topic-service.ts";

/** The operations of SubscriberService on a subscriber's topics. */
type SubscriptionHandlers = Pick<
  Handlers<typeof Rpc>,
  "upsertSubscription" | "deleteSubscription" | "listSubscriptions"
>;

export function subscriptionHandlers(service: TopicService, cursors: Cursors): SubscriptionHandlers {
  return {
    async upsertSubscription(context, { subscriberId, topicKey, contextKeys }) {
      const subscription = await service.upsertSubscription(context, subscriberId, topicKey, contextKeys);
      return create(UpsertSubscriptionResponseSchema, { subscription: fromSubscription(subscription) });
    },

    async deleteSubscription(context, { subscriberId, topicKey }) {
      const subscription = await service.deleteSubscription(context, subscriberId, topicKey);
      return create(DeleteSubscriptionResponseSchema, { subscription: fromSubscription(subscription) });
    },

    async listSubscriptions(context, request) {
      const { tenantId, operation, sql } = context;
      const subscriberId = await service.subscriberId(context, request.subscriberId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [subscriberId] },
        (subscription: Subscription) => subscription.topicKey,
        (wanted) => subscriptionStore(sql).ofSubscriber(tenantId, subscriberId, wanted),
      );
      return create(ListSubscriptionsResponseSchema, { ...page, subscriptions: page.items.map(fromSubscription) });
    },
  };
}

export function fromSubscription(subscription: Subscription): SubscriptionMessage {
  return create(SubscriptionSchema, {
    id: subscription.id,
    tenantId: subscription.tenantId,
    topicKey: subscription.topicKey,
    subscriberId: subscription.subscriberId,
    contextKeys: [...subscription.contextKeys],
    createdAt: timestampFromDate(subscription.createdAt),
  });
}
