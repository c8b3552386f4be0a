import type { SubscriberService as Rpc } from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { subscriptionStore } from "./subscription-store.ts";
import type { TopicService } from "./topic-service.ts";

type SubscriptionHandlers = Pick<
  Handlers<typeof Rpc>,
  "upsertSubscription" | "deleteSubscription" | "listSubscriptions"
>;

export function subscriptionHandlers(service: TopicService): SubscriptionHandlers {
  return {
    async upsertSubscription(context, { subscriberId, topicKey, contextKeys }) {
      return { subscription: await service.upsertSubscription(context, subscriberId, topicKey, contextKeys) };
    },

    async deleteSubscription(context, { subscriberId, topicKey }) {
      return { subscription: await service.deleteSubscription(context, subscriberId, topicKey) };
    },

    async listSubscriptions(context, request) {
      const subscriberId = await service.subscriberId(context, request.subscriberId);
      return context.page(
        "subscriptions",
        request,
        [subscriberId],
        (page) => subscriptionStore(context.sql).ofSubscriber(context.tenantId, subscriberId, page),
        (subscription) => subscription.topicKey,
      );
    },
  };
}
