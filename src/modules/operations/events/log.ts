import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, nextWake, type Signals, type Sql } from "../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import { type Event, type EventFilter, type NewEvent, type Position, wanted } from "./domain/event.ts";
import { type Addition, eventStore } from "./store.ts";

const readAtOnce = 200;
const pollMs = 1000;
const soonMs = 50;

/** The log as it is written and followed. */
export interface EventLog {
  /** Adds an event, committed together with many others'. */
  append(event: NewEvent, record: IdempotencyRecord | undefined): Promise<"committed" | "duplicate">;
  /** Reads one event, together with others' reads. */
  find(tenantId: TenantId, id: string): Promise<Event | undefined>;
  /** Wakes those who follow a tenant's log; after a commit, never before. */
  wake(tenantId: TenantId): void;
  /** Calls back when something may have been added to a tenant's log; answers with the way to stop. */
  onWake(tenantId: TenantId, listener: () => void): () => void;
  /** Yields what comes after a position, for as long as the signal lasts. */
  follow(tenantId: TenantId, from: Position, filter: EventFilter, signal: AbortSignal): AsyncGenerator<Event>;
  idle(): Promise<void>;
}

/** Makes the log of this node. */
export function createEventLog(sql: Sql, signals: Signals): EventLog {
  const store = eventStore(sql);
  const wake = (tenantId: TenantId) => signals.wake(topicOf(tenantId));

  const writer = createBatcher<Addition, "committed" | "duplicate">({
    lanes: 2,
    async flush(additions) {
      const { first, order } = withoutRepeats(additions);
      const added = await store.insertMany(first);
      for (const tenantId of new Set(first.map(({ event }) => event.tenantId))) wake(tenantId);
      return order.map((addition) => (added.has(addition.event.id) ? "committed" : "duplicate"));
    },
  });

  const reader = createBatcher<{ tenantId: TenantId; id: string }, Event | undefined>({
    lanes: 4,
    async flush(wantedEvents) {
      const found = new Map((await store.findMany(wantedEvents)).map((event) => [event.tenantId + event.id, event]));
      return wantedEvents.map(({ tenantId, id }) => found.get(tenantId + id));
    },
  });

  return {
    find: (tenantId, id) => reader.run({ tenantId, id }),
    append: (event, record) => writer.run({ event, record }),
    wake,
    onWake: (tenantId, listener) => signals.onWake(topicOf(tenantId), listener),
    idle: () => writer.idle(),
    async *follow(tenantId, from, filter, signal) {
      let position = from;
      let waitMs = pollMs;
      while (!signal.aborted) {
        // Listen before reading: what is committed in between then wakes us again.
        const woken = nextWake(signals, topicOf(tenantId), signal, waitMs);
        try {
          const batch = await store.after(tenantId, position, readAtOnce);
          for (const event of batch) if (wanted(filter, event)) yield event;
          const last = batch.at(-1);
          if (last !== undefined) position = { xid: last.xid, id: last.id, snapshot: from.snapshot };
          if (batch.length === readAtOnce) continue;
          // Woken, and maybe for something that still stands behind a transaction under way: look again soon.
          waitMs = (await woken.reason) === "signal" ? soonMs : Math.min(waitMs * 2, pollMs);
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

/** Two additions under one key must not travel together: the first one counts, the second gets its answer. */
function withoutRepeats(additions: readonly Addition[]): { first: Addition[]; order: readonly Addition[] } {
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
