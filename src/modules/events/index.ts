/**
 * Events: what happened in a tenant, in order, as CloudEvents 1.0.
 *
 * event: one thing that happened. recorder: how other modules add theirs, in their own transaction.
 * position: where a reader stands in the log; nothing ever appears behind it.
 */
import type { Context } from "../../chain/call.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import type { Cursors } from "../../platform/cursor/index.ts";
import type { Database, Signals } from "../../platform/db/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import type { EventType } from "./domain/event-types.ts";
import { eventHandlers } from "./handler.ts";
import { forgetEventsJob } from "./jobs.ts";
import { createEventLog } from "./log.ts";
import { eventStore } from "./store.ts";

export { eventTypes } from "./domain/event-types.ts";
export type { EventType };

/** How other modules add events to the log. */
export interface EventRecorder {
  /**
   * Adds an event in the transaction of the context; readers are woken after its commit. It stands in the log of the
   * caller's tenant, or in that of the tenant it concerns.
   */
  record(
    context: Context,
    type: EventType,
    subject: string,
    data: Record<string, unknown>,
    concerned?: TenantId,
  ): Promise<void>;
}

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly cursors: Cursors;
  readonly clock: Clock;
  readonly retentionDays: number;
  /** Whether what tenants set for themselves is in force. */
  readonly ownSettings: boolean;
  readonly platformTenantId: () => string;
}

/** Makes the module. */
export function createEvents({ db, signals, cursors, ...parts }: Parts) {
  const log = createEventLog(db.sql, signals);
  const recorder: EventRecorder = {
    async record(context, type, subject, data, tenantId = context.tenantId) {
      const { sql, nowMs, afterCommit } = context;
      const source = `/${type.slice(0, type.indexOf("."))}`;
      await eventStore(sql).insert({ tenantId, id: ulid(nowMs), type, source, subject, time: new Date(nowMs), data });
      afterCommit(() => log.wake(tenantId));
    },
  };
  return {
    handlers: eventHandlers(log, cursors),
    jobs: [forgetEventsJob({ sql: db.sql, ...parts })],
    recorder,
    idle: log.idle,
  };
}
