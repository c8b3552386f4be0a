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

  /** Counts the unread messages. */
  countUnreadMessages(request: CountUnreadMessagesRequest, options?: CallOptions): Promise<CountUnreadMessagesResponse>;

  /** Follows an inbox: returns messages as they arrive. REST returns server-sent events. */
  watch(request: WatchInboxRequest, options?: CallOptions): EventStream<InboxMessage>;

  /** Marks a message as read or unread. */
  markMessage(request: MarkInboxMessageRequest, options?: CallOptions): Promise<InboxMessage>;

  /** Marks all messages of an inbox as read. */
  markAllMessages(request: MarkAllInboxMessagesRequest, options?: CallOptions): Promise<MarkAllInboxMessagesResponse>;
}

const inboxServiceOperations = {
  listMessages: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox", result: "cursor" },
  countUnreadMessages: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:unread" },
  watch: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox:watch", result: "stream" },
  markMessage: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/inbox/{message_id}:mark", body: "*", keyed: true },
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
};

/** Counts messages. */
export type CountUnreadMessagesRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
};

/** The number of unread messages. */
export type CountUnreadMessagesResponse = {
  /** The number of unread messages. */
  readonly unread_count: number;
};

/** Follows an inbox. */
export type WatchInboxRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The id of the last received message; only new messages when empty. REST also accepts it in Last-Event-ID. */
  readonly cursor?: string;
};

/** Marks a message. */
export type MarkInboxMessageRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The message. */
  readonly message_id: string;
  /** Whether it was read; default true. */
  readonly read?: boolean;
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
