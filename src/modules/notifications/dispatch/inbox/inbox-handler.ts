import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CountUnreadMessagesResponseSchema,
  type InboxMessage as InboxMessageMessage,
  InboxMessageSchema,
  type InboxService,
  ListInboxMessagesResponseSchema,
  MarkAllInboxMessagesResponseSchema,
  MarkInboxMessageResponseSchema,
  type WatchInboxResponse,
  WatchInboxResponseSchema,
} from "../../../../../gen/service/api/inbox_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { invalid } from "../../../../errors/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import type { ObservationService } from "../observations/observation-service.ts";
import type { InboxFeed } from "./inbox-feed.ts";
import { type InboxMessage, inboxStore } from "./inbox-store.ts";

interface Parts {
  readonly subscribers: Pick<Subscribers, "find">;
  readonly feed: InboxFeed;
  readonly observations: Pick<ObservationService, "recordInboxRead">;
  readonly cursors: Cursors;
  /** Called in the transaction that marks messages. */
  onInboxChange(context: Context, messageIds: readonly string[]): Promise<void>;
}

/** The maximum number of messages that one call marks as read. */
const markedMax = 10_000;

/** The operations of InboxService. */
export function inboxHandlers({
  subscribers,
  feed,
  observations,
  cursors,
  onInboxChange,
}: Parts): Handlers<typeof InboxService> {
  async function owner({ sql, tenantId }: Context, subscriberId: string): Promise<string> {
    const subscriber = await subscribers.find(sql, tenantId, subscriberId);
    if (subscriber === undefined) throw notFound("subscriber");
    return subscriber.id;
  }

  return {
    async listInboxMessages(context, request) {
      const { sql, tenantId, operation } = context;
      const subscriberId = await owner(context, request.subscriberId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [subscriberId, request.unreadOnly] },
        (message: InboxMessage) => message.id,
        (wanted) => inboxStore(sql).list(tenantId, subscriberId, request.unreadOnly, wanted),
      );
      return create(ListInboxMessagesResponseSchema, { ...page, messages: page.items.map(fromMessage) });
    },

    async countUnreadMessages(context, request) {
      const subscriberId = await owner(context, request.subscriberId);
      const unreadCount = await inboxStore(context.sql).countUnread(context.tenantId, subscriberId);
      return create(CountUnreadMessagesResponseSchema, { unreadCount });
    },

    async watchInbox(context, { subscriberId: name, cursor }) {
      const { sql, tenantId, nowMs, signal } = context;
      const subscriberId = await owner(context, name);
      const store = inboxStore(sql);
      const from =
        cursor === "" ? await store.endPosition(nowMs) : await store.positionOf(tenantId, subscriberId, cursor);
      if (from === undefined)
        throw invalid(
          "cursor",
          "cursor",
          "must be the id of a message in this inbox, or empty to watch new messages only",
        );
      return fromMessages(feed.follow(tenantId, subscriberId, from, signal));
    },

    async markInboxMessage(context, { subscriberId, messageId, read = true }) {
      const { sql, tenantId, nowMs } = context;
      const message = await inboxStore(sql).mark(tenantId, subscriberId, messageId, read ? new Date(nowMs) : null);
      if (message === undefined) throw notFound("message");
      if (read) await observations.recordInboxRead(context, [message.id]);
      if (read) await onInboxChange(context, [message.id]);
      return create(MarkInboxMessageResponseSchema, { message: fromMessage(message) });
    },

    async markAllInboxMessages(context, request) {
      const { sql, tenantId, nowMs } = context;
      const subscriberId = await owner(context, request.subscriberId);
      const ids = await inboxStore(sql).markAll(tenantId, subscriberId, new Date(nowMs), markedMax);
      await observations.recordInboxRead(context, ids);
      await onInboxChange(context, ids);
      return create(MarkAllInboxMessagesResponseSchema, { markedCount: ids.length });
    },
  };
}

async function* fromMessages(messages: AsyncIterable<InboxMessage>): AsyncGenerator<WatchInboxResponse> {
  for await (const message of messages) yield create(WatchInboxResponseSchema, { message: fromMessage(message) });
}

function fromMessage(message: InboxMessage): InboxMessageMessage {
  const { data, readAt, createdAt, ...rest } = message;
  return create(InboxMessageSchema, {
    ...rest,
    data: data as never,
    readAt: optionalTime(readAt),
    createdAt: timestampFromDate(createdAt),
  });
}
