import { create } from "@bufbuild/protobuf";
import {
  AddTopicSubscribersResponseSchema,
  CreateTopicResponseSchema,
  DeleteTopicResponseSchema,
  GetTopicResponseSchema,
  ListTopicSubscribersResponseSchema,
  ListTopicsResponseSchema,
  RemoveTopicSubscribersResponseSchema,
  type TopicService as Rpc,
  type Topic as TopicMessage,
  TopicSchema,
  UpdateTopicResponseSchema,
} from "../../../../gen/service/api/topic_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { Subscription } from "./domain/subscription.ts";
import type { Topic } from "./domain/topic.ts";
import { fromSubscription } from "./subscription-handler.ts";
import { subscriptionStore } from "./subscription-store.ts";
import type { TopicService } from "./topic-service.ts";
import { topicStore } from "./topic-store.ts";

/** The operations of TopicService, except imports. */
export function topicHandlers(
  service: TopicService,
  cursors: Cursors,
): Omit<Handlers<typeof Rpc>, "importTopicSubscribers" | "getTopicImport" | "cancelTopicImport"> {
  return {
    async createTopic(context, { key, name, description }) {
      const topic = await service.createTopic(context, key, { name: name || key, description });
      return create(CreateTopicResponseSchema, { topic: fromTopic(topic) });
    },

    async getTopic(context, request) {
      const topic = await service.getTopic(context, request.key);
      return create(GetTopicResponseSchema, { topic: fromTopic(topic) });
    },

    async listTopics(context, request) {
      const { tenantId, operation, sql } = context;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (topic: Topic) => topic.key,
        (wanted) => topicStore(sql).list(tenantId, wanted),
      );
      return create(ListTopicsResponseSchema, { ...page, topics: page.items.map(fromTopic) });
    },

    async updateTopic(context, { key, name, description, recordVersion }) {
      const text = { name: name || key, description };
      const topic = await service.updateTopic(context, key, text, expectedVersion(recordVersion));
      return create(UpdateTopicResponseSchema, { topic: fromTopic(topic) });
    },

    async deleteTopic(context, request) {
      const topic = await service.deleteTopic(context, request.key);
      return create(DeleteTopicResponseSchema, { topic: fromTopic(topic) });
    },

    async addTopicSubscribers(context, { key, subscriberIds, contextKeys }) {
      const result = await service.addSubscribers(context, key, subscriberIds, contextKeys);
      return create(AddTopicSubscribersResponseSchema, result);
    },

    async removeTopicSubscribers(context, { key, subscriberIds }) {
      const removed = await service.removeSubscribers(context, key, subscriberIds);
      return create(RemoveTopicSubscribersResponseSchema, { removed });
    },

    async listTopicSubscribers(context, request) {
      const { tenantId, operation, sql } = context;
      const { key } = await service.getTopic(context, request.key);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [key] },
        (subscription: Subscription) => subscription.id,
        (wanted) => subscriptionStore(sql).ofTopic(tenantId, key, wanted),
      );
      const subscriptions = page.items.map(fromSubscription);
      return create(ListTopicSubscribersResponseSchema, { ...page, subscriptions });
    },
  };
}

function fromTopic(topic: Topic): TopicMessage {
  return create(TopicSchema, {
    id: topic.id,
    tenantId: topic.tenantId,
    key: topic.key,
    name: topic.name,
    description: topic.description,
    ...stampFields(topic),
  });
}
