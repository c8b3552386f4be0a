import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, nextWake, type Signals, type Sql } from "../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import { type Event, type EventFilter, matchesFilter, type NewEvent, type Position } from "./domain/event.ts";
import { type Addition, eventStore } from "./store.ts";

const readBatchSize = 200;
const pollMs = 1000;
const retryMs = 50;

/** Writes and follows the logs of all tenants. */
export type EventLog = ReturnType<typeof createEventLog>;

/** Creates the event log of this node. */
export function createEventLog(sql: Sql, signals: Signals) {
  const store = eventStore(sql);
  /** Wakes the followers of a tenant's log. Call it only after the commit. */
  const wake = (tenantId: TenantId) => signals.wake(topicOf(tenantId));

  const writer = createBatcher<Addition, "committed" | "duplicate">({
    lanes: 2,
    async flush(additions) {
      const { first, order } = deduplicate(additions);
      const added = await store.insertMany(first);
      for (const tenantId of new Set(first.map(({ event }) => event.tenantId))) wake(tenantId);
      return order.map((addition) => (added.has(addition.event.id) ? "committed" : "duplicate"));
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
          const batch = await store.after(tenantId, position, readBatchSize);
          for (const event of batch) if (matchesFilter(filter, event)) yield event;
          const last = batch.at(-1);
          if (last !== undefined) position = { xid: last.xid, id: last.id, snapshot: from.snapshot };
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

/** Keeps one addition per idempotency key and batch: the first. Repeats get its response. */
function deduplicate(additions: readonly Addition[]): { first: Addition[]; order: readonly Addition[] } {
  const keyed = new Map<string, Addition>();
  const plain: Addition[] = [];
  for (const addition of additions) {
    const { record } = addition;
    if (record === undefined) plain.push(addition);
    else {
      const key = [record.tenantId, record.operation, record.principal, record.key].join("\0");
      if (!keyed.has(key)) keyed.set(key, addition);
    }
  }
  const sorted = [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, addition]) => addition);
  return { first: [...plain, ...sorted], order: additions };
}
