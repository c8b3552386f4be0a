import type { TenantId } from "../../../../platform/access/index.ts";
import { lines, type Sql } from "../../../../platform/db/index.ts";

/** Work that is done. None of its texts holds a line break. */
interface Completion {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly id: string;
  readonly token: string;
}

/** An item that is completed. */
export interface CompletedRow {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly recipientId: string;
  readonly leasedAtMs: number | null;
  readonly attempt: number;
}

/**
 * Completes items of which nothing else has to be given back or told, in one statement: the items, their outcomes, the
 * counts. They come in the order of their ids, in which everybody locks items. Those whose lease is not the worker's are
 * left out of the answer, as are those that were dead letters before: their letters have to be forgotten as well.
 */
export async function completePlainItems(
  sql: Sql,
  done: readonly Completion[],
  nowMs: number,
  shard: number,
): Promise<CompletedRow[]> {
  const now = new Date(nowMs);
  // Only a lease has a token. Rows are looked up one by one and written where they were found: for a join, or by their
  // state, the planner might go through all items once it has seen a table with none.
  return sql`
    with locked as materialized (
      select q.place from (
        select * from rows from (
          string_to_table(${lines(done, ({ tenantId }) => tenantId)}, E'\\n'),
          string_to_table(${lines(done, ({ id }) => id)}, E'\\n'),
          string_to_table(${lines(done, ({ poolId }) => poolId)}, E'\\n'),
          string_to_table(${lines(done, ({ token }) => token)}, E'\\n')
        ) with ordinality as done(tenant_id, id, pool_id, token, nth) order by nth
      ) n cross join lateral (
        select q.ctid as place, q.lease_token, q.revived from queue_items q
        where q.tenant_id = n.tenant_id and q.id = n.id and q.pool_id = n.pool_id
        limit 1 for update
      ) q
      where q.lease_token = n.token and not q.revived
    ), ended as (
      update queue_items q set state = 'completed', ended_at = ${now}::timestamptz, lease_token = '',
        done_token = q.lease_token, lease_until = null, has_slot = false
      where q.ctid = any(array(select place from locked))
      returning q.tenant_id, q.id, q.pool_id, q.recipient_id, q.attempt,
        floor(date_part('epoch', q.leased_at) * 1000) as leased_at_ms
    ), told as (
      insert into outcomes (tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, observed_at, recorded_at)
      select tenant_id, id, pool_id, recipient_id, 'success', greatest(0, ${nowMs}::float8 - leased_at_ms),
        ${now}::timestamptz, ${now}::timestamptz
      from ended where recipient_id <> ''
      on conflict do nothing
    ), counted as (
      insert into queue_days (tenant_id, pool_id, day, shard, completed)
      select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, count(*) from ended
      group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, day, shard) do update set completed = queue_days.completed + excluded.completed
    )
    select tenant_id, id, recipient_id, leased_at_ms, attempt from ended`;
}
