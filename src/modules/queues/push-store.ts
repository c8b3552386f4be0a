import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";

/** A recipient for whom items wait to be sent. */
export interface PushTarget {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
}

/**
 * Goes through the recipients for whom items wait to be sent, so many from a place on, and answers with those who can be
 * sent some; `last` is where it stopped before the end. It leaps from one to the next, so that neither many items for
 * one nor queues that stand still keep others waiting.
 */
export async function pushTargets(
  sql: Sql,
  after: PushTarget | undefined,
  limit: number,
): Promise<{ targets: readonly PushTarget[]; last: PushTarget | undefined }> {
  const { tenantId = "", poolId = "", recipientId = "" } = after ?? {};
  const rows = await sql<(PushTarget & { nth: number; stopped: boolean })[]>`
    with recursive target as (
      (select tenant_id, pool_id, recipient_id, 1 as nth from queue_items
       where state = 'ready' and delivery = 'push'
         and (tenant_id, pool_id, recipient_id) > (${tenantId}, ${poolId}, ${recipientId})
       order by tenant_id, pool_id, recipient_id limit 1)
      union all
      select next.*, target.nth + 1 from target cross join lateral (
        select q.tenant_id, q.pool_id, q.recipient_id from queue_items q
        where q.state = 'ready' and q.delivery = 'push'
          and (q.tenant_id, q.pool_id, q.recipient_id) > (target.tenant_id, target.pool_id, target.recipient_id)
        order by q.tenant_id, q.pool_id, q.recipient_id limit 1) next
      where target.nth < ${limit}
    )
    select t.*, coalesce(s.paused, false) or p.status = 'disabled' as stopped from target t
    join pools p on p.tenant_id = t.tenant_id and p.id = t.pool_id
    left join queue_states s on s.tenant_id = t.tenant_id and s.pool_id = t.pool_id`;
  return { targets: rows.filter(({ stopped }) => !stopped), last: rows.find(({ nth }) => nth === limit) };
}
