import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Event, EventHead, Position } from "./domain/event.ts";
import type { EventLog } from "./log.ts";
import { eventStore, type RecordedRange } from "./store.ts";

/** How other modules read the log, in transactions of their own. */
export interface EventReader {
  /** What comes after a position, in order, up to the oldest transaction that still runs: nothing appears behind it later. */
  headsAfter(sql: Sql, tenantId: TenantId, position: Position, limit: number): Promise<EventHead[]>;
  /** What was recorded from one moment on and before another, after an id (none when empty), in the order of ids. */
  headsBetween(sql: Sql, tenantId: TenantId, range: RecordedRange, limit: number): Promise<EventHead[]>;
  /** Of these places in their tenants' logs, those that something comes after. */
  behind(sql: Sql, places: readonly (Position & { tenantId: TenantId })[]): Promise<TenantId[]>;
  /** Reads events; those that are no longer there are left out. */
  findMany(sql: Sql, wanted: readonly { tenantId: TenantId; id: string }[]): Promise<Event[]>;
  /** Calls back when something may have been added to a tenant's log, on whichever node; answers with the way to stop. */
  onWake(tenantId: TenantId, listener: () => void): () => void;
}

/** Makes the reader. */
export function createEventReader(log: EventLog): EventReader {
  return {
    headsAfter: (sql, tenantId, position, limit) => eventStore(sql).headsAfter(tenantId, position, limit),
    headsBetween: (sql, tenantId, range, limit) => eventStore(sql).headsBetween(tenantId, range, limit),
    behind: (sql, places) => eventStore(sql).behind(places),
    findMany: (sql, wanted) => eventStore(sql).findMany(wanted),
    onWake: log.onWake,
  };
}
