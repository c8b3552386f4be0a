import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Event, EventHead, Position } from "./domain/event.ts";
import type { EventLog } from "./log.ts";
import { eventStore, type RecordedRange } from "./store.ts";

/** Reads the log for other modules, in their own transactions. */
export interface EventReader {
  /** The events after a position, in order, up to the oldest running transaction, so that none is missed. */
  headsAfter(sql: Sql, tenantId: TenantId, position: Position, limit: number): Promise<EventHead[]>;
  /** The events recorded in a time range and after an id (empty for all), ordered by id. */
  headsBetween(sql: Sql, tenantId: TenantId, range: RecordedRange, limit: number): Promise<EventHead[]>;
  /** The tenants whose log has events after the given position. */
  findTenantsBehind(sql: Sql, positions: readonly (Position & { tenantId: TenantId })[]): Promise<TenantId[]>;
  /** Reads events; omits deleted ones. */
  findMany(sql: Sql, ids: readonly { tenantId: TenantId; id: string }[]): Promise<Event[]>;
  /** Calls the listener when any node may have added to a tenant's log; returns a function that unsubscribes. */
  onWake(tenantId: TenantId, listener: () => void): () => void;
}

export function createEventReader(log: EventLog): EventReader {
  return {
    headsAfter: (sql, tenantId, position, limit) => eventStore(sql).headsAfter(tenantId, position, limit),
    headsBetween: (sql, tenantId, range, limit) => eventStore(sql).headsBetween(tenantId, range, limit),
    findTenantsBehind: (sql, positions) => eventStore(sql).findTenantsBehind(positions),
    findMany: (sql, ids) => eventStore(sql).findMany(ids),
    onWake: log.onWake,
  };
}
