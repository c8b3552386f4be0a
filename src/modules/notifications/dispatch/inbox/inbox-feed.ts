import type { TenantId } from "../../../../platform/access/index.ts";
import { nextWake, type Signals, type Sql } from "../../../../platform/db/index.ts";
import { type InboxMessage, type InboxPosition, inboxStore } from "./inbox-store.ts";

/** Tells those who follow the inboxes of subscribers that something came; after a commit, never before. */
export type WakeInbox = (tenantId: TenantId, subscriberIds: readonly string[]) => void;

/** Inboxes as they are followed. */
export interface InboxFeed {
  readonly wake: WakeInbox;
  /** Yields what comes into an inbox after a position, for as long as the signal lasts. */
  follow(
    tenantId: TenantId,
    subscriberId: string,
    from: InboxPosition,
    signal: AbortSignal,
  ): AsyncGenerator<InboxMessage>;
}

const readAtOnce = 100;
const pollMs = 2000;
const soonMs = 50;

/** Makes this node's feed. */
export function createInboxFeed(sql: Sql, signals: Signals): InboxFeed {
  return {
    wake(tenantId, subscriberIds) {
      for (const topic of new Set(subscriberIds.map((id) => topicOf(tenantId, id)))) signals.wake(topic);
    },
    async *follow(tenantId, subscriberId, from, signal) {
      let position = from;
      let waitMs = pollMs;
      while (!signal.aborted) {
        // Listen before reading: what is committed in between then wakes us again.
        const woken = nextWake(signals, topicOf(tenantId, subscriberId), signal, waitMs);
        try {
          const messages = await inboxStore(sql).after(tenantId, subscriberId, position, readAtOnce);
          yield* messages;
          const last = messages.at(-1);
          if (last !== undefined) position = { ...position, xid: last.xid, id: last.id };
          if (messages.length === readAtOnce) continue;
          // Woken, and maybe for something that still stands behind a transaction under way: look again soon.
          waitMs = (await woken.reason) === "signal" ? soonMs : Math.min(waitMs * 2, pollMs);
        } finally {
          woken.cancel();
        }
      }
    },
  };
}

/** A topic stands for one in 32 inboxes: a broadcast wakes a few topics and not a hundred thousand. */
function topicOf(tenantId: TenantId, subscriberId: string): string {
  return `inbox:${tenantId}:${subscriberId.at(-1)}`;
}
