import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, type Database, nextWake, type Signals } from "../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import { type Event, type EventFilter, matchesFilter, type NewEvent, type Position } from "./domain/event.ts";
import { type Addition, eventStore } from "./store.ts";

const readBatchSize = 200;
const pollMs = 1000;
const retryMs = 50;

/** Writes and follows the logs of all tenants. */
export type EventLog = ReturnType<typeof createEventLog>;

/** Creates the event log of this node. */
export function createEventLog(db: Pick<Database, "sql" | "genericPlans">, signals: Signals) {
  const store = eventStore(db.sql);
  const followed = eventStore(db.genericPlans.sql);
  /** Wakes the followers of a tenant's log. Call it only after the commit. */
  const wake = (tenantId: TenantId) => signals.wake(topicOf(tenantId));

  const writer = createBatcher<Addition, "committed" | "duplicate">({
    lanes: 2,
    async flush(additions) {
      const added = await store.insertMany(additions);
      for (const tenantId of new Set(additions.map(({ event }) => event.tenantId))) wake(tenantId);
      return additions.map((addition) => (added.has(addition.event.id) ? "committed" : "duplicate"));
    },
  });

  const reader = createBatcher<{ tenantId: TenantId; id: string }, Event | undefined>({
    lanes: 4,
    async flush(requests) {
      const found = new Map((await store.findMany(requests)).map((event) => [event.tenantId + event.id, event]));
      return requests.map(({ tenantId, id }) => found.get(tenantId + id));
    },
  });

  return {
    /** Reads one event. Concurrent reads are batched. */
    find: (tenantId: TenantId, id: string): Promise<Event | undefined> => reader.run({ tenantId, id }),
    /** Adds an event. Concurrent events are committed in one batch. */
    append: (event: NewEvent, record: IdempotencyRecord | undefined): Promise<"committed" | "duplicate"> =>
      writer.run({ event, record }),
    wake,
    /** Calls the listener when events may have been added to a tenant's log; returns a function that unsubscribes. */
    onWake: (tenantId: TenantId, listener: () => void): (() => void) => signals.onWake(topicOf(tenantId), listener),
    idle: () => writer.idle(),
    /** Yields the events after a position until the signal aborts. */
    async *follow(tenantId: TenantId, from: Position, filter: EventFilter, signal: AbortSignal): AsyncGenerator<Event> {
      let position = from;
      let waitMs = pollMs;
      while (!signal.aborted) {
        // Listen before reading, so that a commit in between wakes the loop again.
        const woken = nextWake(signals, topicOf(tenantId), signal, waitMs);
        try {
          const batch = await followed.after(tenantId, position, readBatchSize);
          for (const event of batch) if (matchesFilter(filter, event)) yield event;
          const last = batch.at(-1);
          if (last !== undefined) position = { stamp: last.stamp, id: last.id, snapshot: from.snapshot };
          if (batch.length === readBatchSize) continue;
          // The signalled event may still be hidden behind a running transaction, so read again soon.
          waitMs = (await woken.reason) === "signal" ? retryMs : Math.min(waitMs * 2, pollMs);
        } finally {
          woken.cancel();
        }
      }
    },
  };
}

function topicOf(tenantId: TenantId): string {
  return `events:${tenantId}`;
}
