import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CountUnreadMessagesResponseSchema,
  type InboxMessage as InboxMessageMessage,
  InboxMessageSchema,
  type InboxService,
  ListInboxMessagesResponseSchema,
  type WatchInboxResponse,
  WatchInboxResponseSchema,
} from "../../../../../gen/service/api/inbox_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { requireFound } from "../../../../platform/db/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import { completeMark, requireMark } from "../domain/inbox-mark.ts";
import type { FeedMessage, InboxFeed } from "./inbox-feed.ts";
import type { InboxService as Service } from "./inbox-service.ts";
import { type InboxMessage, inboxStore } from "./inbox-store.ts";

interface Dependencies {
  readonly subscribers: Pick<Subscribers, "find">;
  readonly feed: InboxFeed;
  readonly service: Service;
}

/** The mark for a request that names no state. */
const read = { read: true };

export function inboxHandlers({ subscribers, feed, service }: Dependencies): Handlers<typeof InboxService> {
  async function owner({ sql, tenantId }: Context, subscriberId: string): Promise<string> {
    const subscriber = requireFound(await subscribers.find(sql, tenantId, subscriberId), "subscriber");
    return subscriber.id;
  }

  return {
    async listInboxMessages(context, request) {
      const { sql, tenantId } = context;
      const { unreadOnly, unseenOnly, archived } = request;
      const subscriberId = await owner(context, request.subscriberId);
      const filter = [subscriberId, unreadOnly, unseenOnly, archived];
      const page = await context.page("messages", request, filter, (wanted) =>
        inboxStore(sql).list(tenantId, subscriberId, { unreadOnly, unseenOnly, archived }, wanted),
      );
      return create(ListInboxMessagesResponseSchema, { ...page, messages: page.messages.map(fromMessage) });
    },

    async countUnreadMessages(context, request) {
      const subscriberId = await owner(context, request.subscriberId);
      const counts = await inboxStore(context.sql).count(context.tenantId, subscriberId);
      return create(CountUnreadMessagesResponseSchema, counts);
    },

    async watchInbox(context, { subscriberId: name, cursor, changes }) {
      const { tenantId, nowMs, signal } = context;
      const subscriberId = await owner(context, name);
      return fromFeed(await feed.open({ tenantId, subscriberId, changes }, cursor, nowMs, signal));
    },

    async markInboxMessage(context, { subscriberId, messageId, ...states }) {
      const { seen, read: isRead, archived } = states;
      const isEmpty = seen === undefined && isRead === undefined && archived === undefined;
      const mark = completeMark(isEmpty ? read : { seen, read: isRead, archived });
      return { message: fromMessage(await service.markMessage(context, subscriberId, messageId, mark)) };
    },

    async markInboxMessages(context, request) {
      const { messageIds, seen, read: isRead, archived } = request;
      const mark = requireMark({ seen, read: isRead, archived });
      const subscriberId = await owner(context, request.subscriberId);
      const ids = messageIds.length === 0 ? undefined : messageIds;
      const marked = await service.markMessages(context, subscriberId, ids, mark);
      const counts = await inboxStore(context.sql).count(context.tenantId, subscriberId);
      return { ...marked, ...counts };
    },

    async markAllInboxMessages(context, request) {
      const subscriberId = await owner(context, request.subscriberId);
      const { markedCount } = await service.markMessages(context, subscriberId, undefined, completeMark(read));
      return { markedCount };
    },
  };
}

async function* fromFeed(messages: AsyncIterable<FeedMessage>): AsyncGenerator<WatchInboxResponse> {
  for await (const message of messages) yield create(WatchInboxResponseSchema, { message: fromMessage(message) });
}

function fromMessage(message: InboxMessage | FeedMessage): InboxMessageMessage {
  const { data, seenAt, readAt, archivedAt, createdAt, ...rest } = message;
  return create(InboxMessageSchema, {
    ...rest,
    data: data as never,
    seenAt: optionalTime(seenAt),
    readAt: optionalTime(readAt),
    archivedAt: optionalTime(archivedAt),
    createdAt: timestampFromDate(createdAt),
  });
}
