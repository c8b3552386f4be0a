// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { JsonObject } from "../json.ts";

/** Inboxes: messages of subscribers on the channel in_app. */
export interface InboxService {
  /** Lists the messages of an inbox, newest first. */
  listMessages(request: ListInboxMessagesRequest, options?: CallOptions): List<InboxMessage>;

  /** Counts the unread and the unseen messages. Archived messages do not count. */
  countUnreadMessages(request: CountUnreadMessagesRequest, options?: CallOptions): Promise<CountUnreadMessagesResponse>;

  /** Follows an inbox: returns messages as they arrive and, on request, messages whose state changes. REST returns server-sent events. With a cursor that is unknown, it starts with a snapshot: the newest 100 messages that are not archived. */
  watch(request: WatchInboxRequest, options?: CallOptions): EventStream<InboxMessage>;

  /** Changes the state of a message: seen, read or archived. A message that is read is also seen. Without a state, the message is marked as read. */
  markMessage(request: MarkInboxMessageRequest, options?: CallOptions): Promise<InboxMessage>;

  /** Changes the state of several messages of an inbox, or of all of them. */
  markMessages(request: MarkInboxMessagesRequest, options?: CallOptions): Promise<MarkInboxMessagesResponse>;

  /** Marks all messages of an inbox as read. */
  markAllMessages(request: MarkAllInboxMessagesRequest, options?: CallOptions): Promise<MarkAllInboxMessagesResponse>;
}

const inboxServiceOperations = {
  listMessages: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox", result: "cursor" },
  countUnreadMessages: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:unread" },
  watch: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:watch", result: "stream" },
  markMessage: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox/{message_id}:mark", body: "*", keyed: true },
  markMessages: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:mark", body: "*", keyed: true },
  markAllMessages: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:markAllRead", body: "*", keyed: true },
} as const satisfies Record<keyof InboxService, Operation>;

/** Creates the service over a transport. */
export function createInboxService(transport: Transport): InboxService {
  return bindOperations<InboxService>(transport, inboxServiceOperations);
}

/** Lists messages. */
export type ListInboxMessagesRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** Only unread messages. */
  readonly unread_only?: boolean;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only unseen messages. */
  readonly unseen_only?: boolean;
  /** Only archived messages; by default, only messages that are not archived. */
  readonly archived?: boolean;
};

/** A message in an inbox. */
export type InboxMessage = {
  /** The id, a ULID; the same as that of its delivery. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The title. */
  readonly title: string;
  /** The text, without markup. */
  readonly body: string;
  /** Additional data, such as a link. */
  readonly data?: JsonObject;
  /** When it was read; absent while unread. */
  readonly read_at?: string;
  /** When it arrived. */
  readonly created_at?: string;
  /** When the subscriber first saw it in a list; absent while unseen. */
  readonly seen_at?: string;
  /** When it was archived; absent while it is not. */
  readonly archived_at?: string;
  /** In a stream: the cursor that continues after this message. REST sends it as the id of the event. */
  readonly cursor: string;
  /** In a stream: whether the message belongs to the snapshot with which the stream starts. */
  readonly snapshot: boolean;
};

/** Counts messages. */
export type CountUnreadMessagesRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
};

/** The numbers of messages that are not archived. */
export type CountUnreadMessagesResponse = {
  /** The number of unread messages. */
  readonly unread_count: number;
  /** The number of unseen messages. */
  readonly unseen_count: number;
};

/** Follows an inbox. */
export type WatchInboxRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The cursor of the last received message; only what is new when empty. REST also accepts it in Last-Event-ID. The id of a message is accepted, too. Any other value starts the stream with a snapshot. */
  readonly cursor?: string;
  /** Whether messages are also sent when they become seen, read or archived, or cease to be. */
  readonly changes?: boolean;
};

/** Marks a message. */
export type MarkInboxMessageRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The message. */
  readonly message_id: string;
  /** Whether it was read. A message that is read is also seen. */
  readonly read?: boolean;
  /** Whether it was seen. A message that is unseen is also unread. */
  readonly seen?: boolean;
  /** Whether it is archived. */
  readonly archived?: boolean;
};

/** Marks several messages. At least one state is required. */
export type MarkInboxMessagesRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The messages; all messages of the inbox when empty. Ids that are not in the inbox are ignored. */
  readonly message_ids?: readonly string[];
  /** Whether they were read. A message that is read is also seen. */
  readonly read?: boolean;
  /** Whether they were seen. A message that is unseen is also unread. */
  readonly seen?: boolean;
  /** Whether they are archived. */
  readonly archived?: boolean;
};

/** What was marked. */
export type MarkInboxMessagesResponse = {
  /** The number of messages that changed, at most 10,000. */
  readonly marked_count: number;
  /** Whether more than 10,000 messages are to be changed: repeat the call. */
  readonly has_more: boolean;
  /** The number of unread messages now. */
  readonly unread_count: number;
  /** The number of unseen messages now. */
  readonly unseen_count: number;
};

/** Marks all messages. */
export type MarkAllInboxMessagesRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
};

/** The number of marked messages. */
export type MarkAllInboxMessagesResponse = {
  /** The number of marked messages. */
  readonly marked_count: number;
};
