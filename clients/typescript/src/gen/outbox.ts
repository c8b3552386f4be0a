// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** The outbox: messages that are stored for developers instead of being sent. */
export interface OutboxService {
  /** Lists the stored messages, newest first. */
  listMessages(request?: ListOutboxMessagesRequest, options?: CallOptions): List<OutboxMessage>;
}

const outboxServiceOperations = {
  listMessages: { verb: "GET", path: "/api/v2/notification/outbox", result: "cursor" },
} as const satisfies Record<keyof OutboxService, Operation>;

/** Creates the service over a transport. */
export function createOutboxService(transport: Transport): OutboxService {
  return bindOperations<OutboxService>(transport, outboxServiceOperations);
}

/** Lists messages. */
export type ListOutboxMessagesRequest = {
  /** Only those of this channel. */
  readonly channel?: "" | "email" | "sms" | "push" | "chat";
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** A message that was stored instead of being sent. */
export type OutboxMessage = {
  /** The id, a ULID; the same as that of its delivery. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The channel. */
  readonly channel: string;
  /** The address. */
  readonly recipient: string;
  /** The subject of a mail. */
  readonly subject: string;
  /** The title. */
  readonly title: string;
  /** The text. */
  readonly body: string;
  /** The HTML of a mail. */
  readonly html: string;
  /** Additional data. */
  readonly data?: JsonObject;
  /** When it was stored. */
  readonly created_at?: string;
};
