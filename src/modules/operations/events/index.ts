/**
 * Events: what happened in a tenant, in order, as CloudEvents 1.0.
 *
 * event: one thing that happened. recorder: how other modules add theirs, in their own transaction.
 * position: where a reader stands in the log; nothing ever appears behind it.
 */
import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Signals, Sql } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventType } from "./domain/event-types.ts";
import { eventHandlers } from "./handler.ts";
import { forgetEventsJob } from "./jobs.ts";
import { createEventLog } from "./log.ts";
import { createEventReader } from "./reader.ts";
import { eventStore } from "./store.ts";

export type { Event, EventHead, Position } from "./domain/event.ts";
export { eventTypes } from "./domain/event-types.ts";
export type { EventReader } from "./reader.ts";
export type { EventType };

/** What of a context an event needs: background work has no call, but has these. */
export type EventContext = Pick<Context, "tenantId" | "sql" | "nowMs" | "afterCommit">;

/** How other modules add events to the log. */
export interface EventRecorder {
  /**
   * Adds an event in the transaction of the context; readers are woken after its commit. It stands in the log of the
   * caller's tenant, or in that of the tenant it concerns. Whoever must know its id brings one.
   */
  record(
    context: EventContext,
    type: EventType,
    subject: string,
    data: Record<string, unknown>,
    concerned?: TenantId,
    id?: string,
  ): Promise<void>;
  /** Adds many events in a transaction of the caller's, in one statement; `wake` is to be called after its commit. */
  recordMany(tx: Sql, entries: readonly EventEntry[], nowMs: number): Promise<{ wake: () => void }>;
}

/** An event that a module adds. */
export interface EventEntry {
  readonly tenantId: TenantId;
  readonly type: EventType;
  readonly subject: string;
  readonly data: Record<string, unknown>;
}

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly cursors: Cursors;
  readonly clock: Clock;
  readonly retentionDays: number;
  /** Whether what tenants set for themselves is in force. */
  readonly tenantSettingsEnabled: boolean;
  readonly platformTenantId: () => string;
}

/** Makes the module. */
export function createEvents({ db, signals, cursors, ...parts }: Parts) {
  const log = createEventLog(db.sql, signals);
  const recorder: EventRecorder = {
    async record(context, type, subject, data, tenantId = context.tenantId, id = ulid(context.nowMs)) {
      const { sql, nowMs, afterCommit } = context;
      const source = sourceOf(type);
      await eventStore(sql).insert({ tenantId, id, type, source, subject, time: new Date(nowMs), data });
      afterCommit(() => log.wake(tenantId));
    },
    async recordMany(tx, entries, nowMs) {
      const time = new Date(nowMs);
      const additions = entries.map((entry) => ({
        event: { ...entry, id: ulid(nowMs), source: sourceOf(entry.type), time },
        record: undefined,
      }));
      if (additions.length > 0) await eventStore(tx).insertMany(additions);
      return { wake: () => new Set(entries.map(({ tenantId }) => tenantId)).forEach(log.wake) };
    },
  };
  return {
    handlers: eventHandlers(log, cursors),
    jobs: [forgetEventsJob({ sql: db.sql, ...parts })],
    recorder,
    reader: createEventReader(log),
    idle: log.idle,
  };
}

/** The part of the service that an event of its own comes from. */
function sourceOf(type: string): string {
  return `/${type.slice(0, type.indexOf("."))}`;
}
