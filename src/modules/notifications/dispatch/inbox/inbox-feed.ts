import type { TenantId } from "../../../../platform/access/index.ts";
import { nextWake, type Signals, type Sql } from "../../../../platform/db/index.ts";
import { type InboxMessage, type InboxPosition, inboxStore } from "./inbox-store.ts";

/** Wakes the watchers of subscribers' inboxes. Call it only after the commit. */
export type WakeInbox = (tenantId: TenantId, subscriberIds: readonly string[]) => void;

/** Live feed of inbox messages. */
export interface InboxFeed {
  readonly wake: WakeInbox;
  /** Yields the messages of an inbox after a position until the signal is aborted. */
  follow(
    tenantId: TenantId,
    subscriberId: string,
    from: InboxPosition,
    signal: AbortSignal,
  ): AsyncGenerator<InboxMessage>;
}

const pageSize = 100;
const pollMs = 2000;
const soonMs = 50;

/** Creates this node's inbox feed. */
export function createInboxFeed(sql: Sql, signals: Signals): InboxFeed {
  return {
    wake(tenantId, subscriberIds) {
      for (const topic of new Set(subscriberIds.map((id) => topicOf(tenantId, id)))) signals.wake(topic);
    },
    async *follow(tenantId, subscriberId, from, signal) {
      let position = from;
      let waitMs = pollMs;
      while (!signal.aborted) {
        // Listen before reading, so that a message committed in between wakes the feed again.
        const woken = nextWake(signals, topicOf(tenantId, subscriberId), signal, waitMs);
        try {
          const messages = await inboxStore(sql).after(tenantId, subscriberId, position, pageSize);
          yield* messages;
          const last = messages.at(-1);
          if (last !== undefined) position = { ...position, xid: last.xid, id: last.id };
          if (messages.length === pageSize) continue;
          // The message behind the signal may be hidden by an older open transaction, so read again soon.
          waitMs = (await woken.reason) === "signal" ? soonMs : Math.min(waitMs * 2, pollMs);
        } finally {
          woken.cancel();
        }
      }
    },
  };
}

/** Inboxes share 32 topics per tenant, so a broadcast wakes a few topics instead of a hundred thousand. */
function topicOf(tenantId: TenantId, subscriberId: string): string {
  return `inbox:${tenantId}:${subscriberId.at(-1)}`;
}
