import type { TenantId } from "../../../../platform/access/index.ts";
import { hasKey, joinSelected, type NextDue, type Sql } from "../../../../platform/db/index.ts";
import type { QueueItem } from "../domain/queue-item.ts";
import { archiveTracked } from "../history/history-store.ts";
import type { ReleasedLease } from "../transitions/lease-release.ts";

/** A lease that expired before its worker reported a result. */
export type ExpiredLease = Pick<ReleasedLease, "tenantId" | "id" | "poolId" | "leaseToken">;

/** Finds leases that have expired by the database's clock. */
export async function findExpiredLeases(sql: Sql, limit: number): Promise<ExpiredLease[]> {
  return sql`
    select tenant_id, id, pool_id, lease_token from queue_items
    where state = 'leased' and lease_until < now() and delivery <> 'none' order by lease_until limit ${limit}`;
}

/** Completes decision-only items (delivery "none") with no outcome reported in time; returns their number. */
export async function completeUnreported(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const unreported = sql`
    from queue_items where state = 'leased' and lease_until < now() and delivery = 'none'
    order by lease_until limit ${limit} for update skip locked`;
  const [row] = await sql<{ count: number }[]>`
    with ended as (
      delete from queue_items using ${joinSelected(sql, "queue_items", unreported)} returning queue_items.*
    ), ${archiveTracked(sql, new Date(nowMs))}
    select count(*) from ended`;
  return row!.count;
}

/** An item whose debounce window has ended. */
export type DueItem = Pick<QueueItem, "tenantId" | "id" | "poolId" | "debounceGroup">;

/** Makes items ready that are due by the database's clock, except debounced and offered ones; returns their pools. */
export async function releaseDueItems(sql: Sql, limit: number): Promise<{ tenantId: TenantId; poolId: string }[]> {
  return sql`
    with due as (
      select tenant_id, id from queue_items
      where state in ('pending', 'held') and due_at <= now() and hold_reason not in ('debounce', 'offer')
      order by due_at limit ${limit} for update skip locked
    )
    update queue_items q set state = 'ready', hold_reason = ''
    from due where ${hasKey(sql, "q", "due")}
    returning q.tenant_id, q.pool_id`;
}

/** Finds items whose debounce window has ended. */
export async function findEndedWindows(sql: Sql, limit: number): Promise<DueItem[]> {
  return sql`
    select tenant_id, id, pool_id, debounce_group from queue_items
    where state in ('pending', 'held') and due_at <= now() and hold_reason = 'debounce'
    order by due_at limit ${limit}`;
}

/** Makes items ready whose debounce window is still ended, locked in the global lock order; returns them. */
export async function releaseFromWindows(tx: Sql, items: readonly DueItem[]) {
  return tx<{ tenantId: TenantId; id: string; poolId: string; debounceGroup: string }[]>`
    with due as (
      select q.tenant_id, q.id from queue_items q
      where (q.tenant_id, q.id) in (
        select * from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[]))
        and q.state in ('pending', 'held') and q.due_at <= now() and q.hold_reason = 'debounce'
      order by q.tenant_id, q.id for update
    )
    update queue_items q set state = 'ready', hold_reason = ''
    from due where ${hasKey(tx, "q", "due")}
    returning q.tenant_id, q.id, q.pool_id, q.debounce_group`;
}

/** When the next item is due, the next lease expires, the next pause ends, or a dependency has ended. */
export const nextDeadline: NextDue = (sql) => sql`
  select least((select min(due_at) from queue_items where state in ('pending', 'held')),
    (select min(lease_until) from queue_items where state = 'leased'),
    (select min(resume_at) from queue_states),
    (select now() from queue_dependencies where outcome is not null limit 1))`;

/** Finds waiting items past their expiry, by the database's clock like leasing. */
export async function findExpiredItems(sql: Sql, limit: number) {
  return sql<{ tenantId: TenantId; id: string; poolId: string }[]>`
    (select tenant_id, id, pool_id from queue_items
     where own_ttl and state in ('pending', 'held', 'ready') and expires_at <= now()
     order by expires_at limit ${limit})
    union all
    (select oldest.tenant_id, oldest.id, oldest.pool_id
     from (select distinct tenant_id, pool_id from queue_depths where depth <> 0) pool
     cross join lateral (
       select q.tenant_id, q.id, q.pool_id, q.expires_at from queue_items q
       where q.tenant_id = pool.tenant_id and q.pool_id = pool.pool_id and q.state in ('pending', 'held', 'ready')
         and not q.own_ttl
       order by q.id limit 100
     ) oldest
     where oldest.expires_at <= now() limit ${limit})`;
}
