import type { TenantId } from "../../../../platform/access/index.ts";
import { nextWake, type Signals, type Sql } from "../../../../platform/db/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";
import { decodePosition, encodePosition, type InboxPosition } from "../domain/inbox-position.ts";
import { type InboxMessage, inboxStore, type StreamedMessage } from "./inbox-store.ts";

/** Wakes the watchers of subscribers' inboxes. Call it only after the commit. */
export type WakeInbox = (tenantId: TenantId, subscriberIds: readonly string[]) => void;

export interface FeedMessage extends InboxMessage {
  /** Continues the feed after this message. */
  readonly cursor: string;
  /** Whether it belongs to the snapshot with which the feed starts. */
  readonly snapshot: boolean;
}

/** The inbox that a reader follows. */
export interface Watch {
  readonly tenantId: TenantId;
  readonly subscriberId: string;
  /** Whether messages are also sent when their state changes. */
  readonly changes: boolean;
}

/** Live feed of inbox messages. */
export type InboxFeed = ReturnType<typeof createInboxFeed>;

const pageSize = 100;
const snapshotSize = 100;
const pollMs = 2000;
const soonMs = 50;

export function createInboxFeed(sql: Sql, signals: Signals) {
  const store = inboxStore(sql);

  async function* follow(watch: Watch, from: InboxPosition, signal: AbortSignal): AsyncGenerator<FeedMessage> {
    const { tenantId, subscriberId, changes } = watch;
    let position = from;
    let waitMs = pollMs;
    while (!signal.aborted) {
      // Listen before reading, so that a message committed in between wakes the feed again.
      const woken = nextWake(signals, topicOf(tenantId, subscriberId), signal, waitMs);
      try {
        const messages = await store.after(tenantId, subscriberId, position, changes, pageSize);
        for (const message of messages) {
          position = { ...positionAt(message), snapshot: position.snapshot };
          yield toFeedMessage(message, false);
        }
        if (messages.length === pageSize) continue;
        // The message behind the signal may be hidden by an older open transaction, so read again soon.
        waitMs = (await woken.reason) === "signal" ? soonMs : Math.min(waitMs * 2, pollMs);
      } finally {
        woken.cancel();
      }
    }
  }

  async function* followSnapshot(watch: Watch, nowMs: number, signal: AbortSignal): AsyncGenerator<FeedMessage> {
    // Taken first: a message that is committed meanwhile may be sent twice, but is never missed.
    const end = await store.endPosition(watch.tenantId, watch.subscriberId, nowMs);
    const newest = await store.newest(watch.tenantId, watch.subscriberId, watch.changes, snapshotSize);
    for (const message of newest) yield toFeedMessage(message, true);
    yield* follow(watch, { ...end, snapshot: undefined }, signal);
  }

  /** The position of a cursor; undefined if it is unknown. */
  async function findPosition({ tenantId, subscriberId }: Watch, cursor: string): Promise<InboxPosition | undefined> {
    if (isUlid(cursor)) return store.positionOf(tenantId, subscriberId, cursor);
    const position = decodePosition(cursor);
    return position !== undefined && (await store.hasBegun(position.stamp)) ? position : undefined;
  }

  return {
    wake(tenantId: TenantId, subscriberIds: readonly string[]) {
      for (const topic of new Set(subscriberIds.map((id) => topicOf(tenantId, id)))) signals.wake(topic);
    },
    /**
     * Opens the feed of an inbox after a cursor, until the signal is aborted. An empty cursor starts with what is new, and an
     * unknown one with a snapshot of the newest messages.
     */
    async open(watch: Watch, cursor: string, nowMs: number, signal: AbortSignal): Promise<AsyncGenerator<FeedMessage>> {
      if (cursor === "")
        return follow(watch, await store.endPosition(watch.tenantId, watch.subscriberId, nowMs), signal);
      const from = await findPosition(watch, cursor);
      return from === undefined ? followSnapshot(watch, nowMs, signal) : follow(watch, from, signal);
    },
  };
}

function toFeedMessage(message: StreamedMessage, snapshot: boolean): FeedMessage {
  return { ...message, cursor: encodePosition(positionAt(message)), snapshot };
}

function positionAt({ stamp, id, at }: StreamedMessage): InboxPosition {
  return { stamp, id, snapshot: undefined, sinceMs: at.getTime() };
}

/** Inboxes share 32 topics per tenant, so a broadcast wakes a few topics instead of a hundred thousand. */
function topicOf(tenantId: TenantId, subscriberId: string): string {
  return `inbox:${tenantId}:${subscriberId.at(-1)}`;
}
