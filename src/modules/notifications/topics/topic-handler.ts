import type { TopicService as Rpc } from "../../../../gen/service/api/topic_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { ImportService } from "./import-service.ts";
import { subscriptionStore } from "./subscription-store.ts";
import type { TopicService } from "./topic-service.ts";
import { topicStore } from "./topic-store.ts";

export function topicHandlers(service: TopicService, imports: ImportService): Handlers<typeof Rpc> {
  return {
    async createTopic(context, { key, name, description }) {
      return { topic: await service.createTopic(context, key, { name: name || key, description }) };
    },

    getTopic: async (context, { key }) => ({ topic: await service.getTopic(context, key) }),

    listTopics: (context, request) =>
      context.page(
        "topics",
        request,
        [],
        (page) => topicStore(context.sql).list(context.tenantId, page),
        (topic) => topic.key,
      ),

    async updateTopic(context, { key, name, description, recordVersion }) {
      const text = { name: name || key, description };
      return { topic: await service.updateTopic(context, key, text, expectedVersion(recordVersion)) };
    },

    deleteTopic: async (context, { key }) => ({ topic: await service.deleteTopic(context, key) }),

    addTopicSubscribers: (context, { key, subscriberIds, contextKeys }) =>
      service.addSubscribers(context, key, subscriberIds, contextKeys),

    async removeTopicSubscribers(context, { key, subscriberIds }) {
      return { removed: await service.removeSubscribers(context, key, subscriberIds) };
    },

    async listTopicSubscribers(context, request) {
      const { key } = await service.getTopic(context, request.key);
      return context.page("subscriptions", request, [key], (page) =>
        subscriptionStore(context.sql).ofTopic(context.tenantId, key, page),
      );
    },

    async importTopicSubscribers(context, { key, subscriberIds, contextKeys }) {
      return { topicImport: await imports.startImport(context, key, subscriberIds, contextKeys) };
    },

    async getTopicImport(context, { key, importId }) {
      return { topicImport: await imports.getImport(context, key, importId) };
    },

    async cancelTopicImport(context, { key, importId }) {
      return { topicImport: await imports.cancelImport(context, key, importId) };
    },
  };
}
