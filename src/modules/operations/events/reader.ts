import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Position } from "./domain/event.ts";
import type { EventLog } from "./log.ts";
import { eventStore, type RecordedRange } from "./store.ts";

/** Reads the log for other modules, in their own transactions. */
export type EventReader = ReturnType<typeof createEventReader>;

export function createEventReader({ onWake }: Pick<EventLog, "onWake">) {
  return {
    /** The events after a position, in order, up to the oldest running transaction, so that none is missed. */
    headsAfter: (sql: Sql, tenantId: TenantId, position: Position, limit: number) =>
      eventStore(sql).headsAfter(tenantId, position, limit),
    /** The events recorded in a time range and after an id (empty for all), ordered by id. */
    headsBetween: (sql: Sql, tenantId: TenantId, range: RecordedRange, limit: number) =>
      eventStore(sql).headsBetween(tenantId, range, limit),
    /** The tenants whose log has events after the given position. */
    findTenantsBehind: (sql: Sql, positions: readonly (Position & { tenantId: TenantId })[]) =>
      eventStore(sql).findTenantsBehind(positions),
    /** Reads events; omits deleted ones. */
    findMany: (sql: Sql, ids: readonly { tenantId: TenantId; id: string }[]) => eventStore(sql).findMany(ids),
    /** Calls the listener when any node may have added to a tenant's log; returns a function that unsubscribes. */
    onWake,
  };
}
