import type { TenantId } from "../../../../platform/access/index.ts";
import { isServed, type NextDue, type Sql } from "../../../../platform/db/index.ts";

/** A recipient with items waiting to be pushed. */
export interface PushTarget {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
}

/** The start and bounds of a scan. */
export interface PushSearch {
  /** The scan starts after this tenant. */
  readonly afterTenantId: string;
  /** Start positions within tenants; other tenants are scanned from their first target. */
  readonly afterTargets: Iterable<PushTarget>;
  readonly tenantsMax: number;
  readonly targetsPerTenantMax: number;
}

/** The targets of one tenant that a scan found. */
export interface TenantTargets {
  readonly tenantId: TenantId;
  /** Targets that can receive items: the queue is not paused and the pool not disabled. */
  readonly targets: readonly PushTarget[];
  /** The last target, if the scan stopped before the tenant's end; otherwise undefined. */
  readonly last: PushTarget | undefined;
}

/** Now, while any item waits to be pushed. */
export const nextToPush: NextDue = (sql) =>
  sql`select now() from queue_items where state = 'ready' and delivery = 'push' limit 1`;

/**
 * Finds recipients with items waiting to be pushed: a bounded number of targets per tenant, for a bounded number of
 * tenants. A skip scan visits each target once, so that neither a long queue nor a paused one delays the others.
 * `lastTenantId` is set if the scan stopped before the last tenant.
 */
export async function findPushTargets(
  sql: Sql,
  { afterTenantId, afterTargets, tenantsMax, targetsPerTenantMax }: PushSearch,
): Promise<{ tenants: readonly TenantTargets[]; lastTenantId: string | undefined }> {
  const toPush = sql`q.state = 'ready' and q.delivery = 'push'`;
  const starts = [...afterTargets];
  const rows = await sql<(PushTarget & { tenantNth: number; nth: number | null; stopped: boolean })[]>`
    with recursive tenant as (
      (select q.tenant_id, 1 as nth from queue_items q where ${toPush} and q.tenant_id > ${afterTenantId}
       order by q.tenant_id limit 1)
      union all
      select next.tenant_id, tenant.nth + 1 from tenant cross join lateral (
        select q.tenant_id from queue_items q where ${toPush} and q.tenant_id > tenant.tenant_id
        order by q.tenant_id limit 1) next
      where tenant.nth < ${tenantsMax}
    ), begins as (
      select * from unnest(${starts.map(({ tenantId }) => tenantId)}::text[],
        ${starts.map(({ poolId }) => poolId)}::text[],
        ${starts.map(({ recipientId }) => recipientId)}::text[]) as begins(tenant_id, pool_id, recipient_id)
    )
    select t.tenant_id, t.nth as tenant_nth, target.pool_id, target.recipient_id, target.nth,
      coalesce(s.paused, false) or coalesce(p.status, 'disabled') = 'disabled' or not ${isServed(sql, sql`t.tenant_id`)} as stopped
    from tenant t left join begins b on b.tenant_id = t.tenant_id
    left join lateral (
      with recursive target as (
        (select q.pool_id, q.recipient_id, 1 as nth from queue_items q
         where ${toPush} and q.tenant_id = t.tenant_id
           and (q.pool_id, q.recipient_id) > (coalesce(b.pool_id, ''), coalesce(b.recipient_id, ''))
         order by q.pool_id, q.recipient_id limit 1)
        union all
        select next.*, target.nth + 1 from target cross join lateral (
          select q.pool_id, q.recipient_id from queue_items q
          where ${toPush} and q.tenant_id = t.tenant_id
            and (q.pool_id, q.recipient_id) > (target.pool_id, target.recipient_id)
          order by q.pool_id, q.recipient_id limit 1) next
        where target.nth < ${targetsPerTenantMax}
      ) select * from target
    ) target on true
    left join pools p on p.tenant_id = t.tenant_id and p.id = target.pool_id
    left join queue_states s on s.tenant_id = t.tenant_id and s.pool_id = target.pool_id
    order by t.nth, target.nth`;
  return {
    tenants: [...Map.groupBy(rows, ({ tenantId }) => tenantId)].map(([tenantId, own]) => ({
      tenantId,
      targets: own.filter(({ nth, stopped }) => nth !== null && !stopped),
      last: own.find(({ nth }) => nth === targetsPerTenantMax),
    })),
    lastTenantId: rows.find(({ tenantNth }) => tenantNth === tenantsMax)?.tenantId,
  };
}
