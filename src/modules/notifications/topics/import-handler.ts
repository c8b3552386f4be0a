import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CancelTopicImportResponseSchema,
  GetTopicImportResponseSchema,
  ImportTopicSubscribersResponseSchema,
  type TopicService as Rpc,
  type TopicImport as TopicImportMessage,
  TopicImportSchema,
} from "../../../../gen/service/api/topic_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TopicImport } from "./domain/topic-import.ts";
import type { ImportService } from "./import-service.ts";

/** The operations of TopicService on imports. */
export function importHandlers(
  service: ImportService,
): Pick<Handlers<typeof Rpc>, "importTopicSubscribers" | "getTopicImport" | "cancelTopicImport"> {
  return {
    async importTopicSubscribers(context, { key, subscriberIds, contextKeys }) {
      const accepted = await service.startImport(context, key, subscriberIds, contextKeys);
      return create(ImportTopicSubscribersResponseSchema, { topicImport: fromImport(accepted) });
    },

    async getTopicImport(context, { key, importId }) {
      const found = await service.getImport(context, key, importId);
      return create(GetTopicImportResponseSchema, { topicImport: fromImport(found) });
    },

    async cancelTopicImport(context, { key, importId }) {
      const cancelled = await service.cancelImport(context, key, importId);
      return create(CancelTopicImportResponseSchema, { topicImport: fromImport(cancelled) });
    },
  };
}

function fromImport({ createdAt, updatedAt, contextKeys: _, unknownNames, ...rest }: TopicImport): TopicImportMessage {
  return create(TopicImportSchema, {
    ...rest,
    unknownNames: [...unknownNames],
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
  });
}
