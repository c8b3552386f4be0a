import type { TenantId } from "../../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../../platform/db/index.ts";

/** The stored live state of a recipient, beside its record. */
export interface RecipientState {
  readonly recipientId: string;
  readonly consecutiveFailures: number;
  readonly ejectedUntil: Date | null;
  readonly ejections: number;
  readonly deprioritizedUntil: Date | null;
  readonly latencyMs: number | null;
  readonly cost: number | null;
  readonly lastAssignedAt: Date | null;
}

/** The number of unfinished items assigned or offered to each recipient of a pool. */
export async function assignedCounts(sql: Sql, tenantId: TenantId, poolId: string) {
  return sql<{ recipientId: string; count: number }[]>`
    select recipient_id, sum(n)::int as count from (
      select recipient_id, count(*) as n from queue_items
      where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'ready' and recipient_id <> '' group by 1
      union all
      select recipient_id, count(*) as n from queue_items
      where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'leased' and recipient_id <> '' group by 1
      union all
      select recipient_id, count(*) as n from queue_items
      where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'held' and hold_reason = 'offer' group by 1
    ) counts group by 1`;
}

/** The states of a pool's recipients. A recipient that never received an item has no state. */
export async function recipientStates(sql: Sql, tenantId: TenantId, poolId: string): Promise<RecipientState[]> {
  return sql`
    select recipient_id, consecutive_failures, ejected_until, ejections, deprioritized_until, latency_ms, cost,
      last_assigned_at
    from recipient_states where tenant_id = ${tenantId} and pool_id = ${poolId}`;
}

/** A node's unsaved changes to a recipient's state. */
export interface StateChange
  extends Pick<RecipientState, "recipientId" | "consecutiveFailures" | "ejections" | "latencyMs" | "cost"> {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly ejectedUntilMs: number | undefined;
  readonly lastAssignedAtMs: number | undefined;
}

/** Saves state changes for other nodes and for restarts. The rows are sorted to avoid deadlocks between nodes. */
export async function saveStates(sql: Sql, changes: readonly StateChange[], nowMs: number): Promise<void> {
  const toDate = (ms: number | undefined) => (ms === undefined || ms === 0 ? null : new Date(ms));
  const rows = changes
    .toSorted((a, b) => (a.poolId + a.recipientId < b.poolId + b.recipientId ? -1 : 1))
    .map(({ ejectedUntilMs, lastAssignedAtMs, ...state }) => ({
      ...state,
      ejectedUntil: toDate(ejectedUntilMs),
      lastAssignedAt: toDate(lastAssignedAtMs),
    }));
  await sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, consecutive_failures, ejected_until, ejections,
      latency_ms, cost, last_assigned_at, updated_at)
    select tenant_id, pool_id, recipient_id, consecutive_failures, ejected_until, ejections, latency_ms, cost,
      last_assigned_at, ${new Date(nowMs)}
    from ${recordRows(sql, "recipient_states", rows)}
    on conflict (tenant_id, pool_id, recipient_id) do update set
      consecutive_failures = excluded.consecutive_failures, ejections = excluded.ejections,
      ejected_until = greatest(excluded.ejected_until, recipient_states.ejected_until),
      latency_ms = coalesce(excluded.latency_ms, recipient_states.latency_ms),
      cost = coalesce(excluded.cost, recipient_states.cost),
      last_assigned_at = greatest(excluded.last_assigned_at, recipient_states.last_assigned_at),
      updated_at = excluded.updated_at`;
}
