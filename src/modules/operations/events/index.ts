/**
 * Events: each tenant's ordered log of events, in the format of CloudEvents 1.0.
 *
 * Event: a record of something that happened. Recorder: lets other modules add events in their own transactions.
 * Position: how far a reader has read the log; no event ever appears before it.
 */

import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import { nameSource } from "../../name-source.ts";
import type { EventType } from "./domain/event-types.ts";
import { eventHandlers } from "./handler.ts";
import { createEventLog } from "./log.ts";
import { createEventReader } from "./reader.ts";
import { eventStore } from "./store.ts";

export type { Event, EventHead, Position } from "./domain/event.ts";
export { eventTypes } from "./domain/event-types.ts";
export { createLogFollower, type LogConsumer, type LogFollower } from "./log-follower.ts";
export type { EventReader } from "./reader.ts";
export type { EventType };

/** Events are known by their type. */
export const eventNames = nameSource("event", "event:read", "events", {
  name: "type",
  isAmbiguous: "true",
  isVisible: (inProduction) => `coalesce(in_production, ${inProduction}) = ${inProduction}`,
});

/** The part of a call's context that an event needs. Background work, which has no call, provides it too. */
export type EventContext = Pick<Context, "tenantId" | "sql" | "nowMs" | "afterCommit"> & {
  readonly principal?: Pick<Context["principal"], "subject">;
};

/** Adds events of other modules to the log. */
export interface EventRecorder {
  /**
   * Adds an event in the transaction of the context; readers are woken after the commit. The event belongs to the log of
   * `concerned`, which defaults to the caller's tenant. Only the log of the caller's own tenant names the caller. A caller
   * that needs the event's id passes one.
   */
  record(
    context: Omit<EventContext, "afterCommit">,
    type: EventType,
    subject: string,
    data: Record<string, unknown>,
    concerned?: TenantId,
    id?: string,
  ): Promise<void>;
  /** Adds events in the caller's transaction with one statement; readers are woken after the commit. `actor` caused all of them. */
  recordMany(tx: Sql, entries: readonly EventEntry[], nowMs: number, actor?: string): Promise<void>;
  /** Wakes the readers of a tenant's log after events were stored by a statement of the caller. */
  wake(tenantId: TenantId): void;
}

/** An event to record. */
export interface EventEntry {
  readonly tenantId: TenantId;
  readonly type: EventType;
  readonly subject: string;
  readonly data: Record<string, unknown>;
}

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock"> {
  readonly retentionDays: number;
  /** Whether settings that tenants set themselves are effective. */
  readonly tenantSettingsEnabled: boolean;
  readonly platformTenantId: () => string;
}

export function createEvents({ db, signals, ...parts }: Dependencies) {
  const log = createEventLog(db, signals);
  const recorder: EventRecorder = {
    wake: log.wake,
    async record(context, type, subject, data, tenantId = context.tenantId, id = ulid(context.nowMs)) {
      const { sql, nowMs } = context;
      const actor = tenantId === context.tenantId ? context.principal?.subject : undefined;
      const event = { tenantId, id, type, source: sourceOf(type), subject, actor, time: new Date(nowMs), data };
      await eventStore(sql).send([event]);
      sql.afterCommit(() => log.wake(tenantId));
    },
    async recordMany(tx, entries, nowMs, actor) {
      if (entries.length === 0) return;
      const time = new Date(nowMs);
      await eventStore(tx).send(
        entries.map((entry) => ({ ...entry, actor, id: ulid(nowMs), source: sourceOf(entry.type), time })),
      );
      tx.afterCommit(() => new Set(entries.map(({ tenantId }) => tenantId)).forEach(log.wake));
    },
  };
  return {
    handlers: eventHandlers(log),
    jobs: [
      retentionJob(
        { ...parts, db },
        {
          ...{ kind: "events.delete_expired", everyMs: 3_600_000, batchSize: 5000 },
          rows: [
            {
              tenants: (sql, now) => eventStore(sql).retentionCutoffs(now, parts),
              expireOf: (sql, tenant, limit) => eventStore(sql).deleteExpired(tenant, limit),
            },
          ],
        },
      ),
    ],
    recorder,
    reader: createEventReader(log),
    idle: log.idle,
  };
}

/** The `source` of one of the service's own events. */
function sourceOf(type: string): string {
  return `/${type.slice(0, type.indexOf("."))}`;
}
