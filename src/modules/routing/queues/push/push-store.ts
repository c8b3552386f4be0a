import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** A recipient for whom items wait to be sent. */
export interface PushTarget {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
}

/** Where a look begins, and how far it goes. */
export interface PushSearch {
  /** The look begins behind this tenant. */
  readonly afterTenantId: string;
  /** Where the look begins within tenants; with a tenant's first target where none is named. */
  readonly afterTargets: Iterable<PushTarget>;
  readonly tenantsMax: number;
  readonly targetsPerTenantMax: number;
}

/** What a look found of one tenant. */
export interface TenantTargets {
  readonly tenantId: TenantId;
  /** Those that can be sent items: their queue is not paused, nor their pool off. */
  readonly targets: readonly PushTarget[];
  /** Where the look stopped before the tenant's end; undefined when it came to the end. */
  readonly last: PushTarget | undefined;
}

/**
 * Goes through the recipients for whom items wait to be sent: so many of each tenant, for so many tenants. It leaps from one
 * to the next, so that neither many items for one nor queues that stand still keep others waiting. `lastTenantId` is where
 * it stopped before the last tenant.
 */
export async function pushTargets(
  sql: Sql,
  { afterTenantId, afterTargets, tenantsMax, targetsPerTenantMax }: PushSearch,
): Promise<{ tenants: readonly TenantTargets[]; lastTenantId: string | undefined }> {
  const toPush = sql`q.state = 'ready' and q.delivery = 'push'`;
  const begins = [...afterTargets];
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
      select * from unnest(${begins.map(({ tenantId }) => tenantId)}::text[],
        ${begins.map(({ poolId }) => poolId)}::text[],
        ${begins.map(({ recipientId }) => recipientId)}::text[]) as begins(tenant_id, pool_id, recipient_id)
    )
    select t.tenant_id, t.nth as tenant_nth, target.pool_id, target.recipient_id, target.nth,
      coalesce(s.paused, false) or coalesce(p.status, 'disabled') = 'disabled' as stopped
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
