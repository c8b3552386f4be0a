import type { JsonValue } from "@bufbuild/protobuf";
import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, lines, type Sql } from "../../../../platform/db/index.ts";
import type { QueueItem } from "../domain/queue-item.ts";
import { historyColumns } from "../history/history-store.ts";

/** A completed lease. None of the texts contains a line break. */
export interface Completion {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly id: string;
  readonly token: string;
  /** The result of completed work; undefined for none. */
  readonly result?: JsonValue | undefined;
}

export interface CompletedRow extends Pick<QueueItem, "tenantId" | "id" | "recipientId" | "attempt"> {
  readonly leasedAtMs: number | null;
}

/**
 * Completes items without groups or events in one statement: moves them to the history with their outcomes, and counts
 * them. The input is sorted by id, the global lock order of items. The result leaves out items whose lease is not the
 * worker's, items that were dead letters before, because their dead letters must be deleted as well, items of experiments,
 * because their outcomes are scores, and items that others wait for.
 */
export async function completePlainItems(
  sql: Sql,
  done: readonly Completion[],
  nowMs: number,
  shard: number,
): Promise<CompletedRow[]> {
  const now = new Date(nowMs);
  // Few items have a result, so the column is left out if none has.
  const hasResults = done.some(({ result }) => result !== undefined);
  // The items of most statements are in one pool, which is sent once: a list costs time for each of its values.
  const [first] = done;
  const isOnePool = done.every(({ tenantId, poolId }) => tenantId === first!.tenantId && poolId === first!.poolId);
  const pools = isOnePool
    ? { lists: sql``, names: sql``, isSame: sql`q.tenant_id = ${first!.tenantId} and q.pool_id = ${first!.poolId}` }
    : {
        lists: sql`, string_to_table(${lines(done, ({ tenantId }) => tenantId)}, E'\\n'),
          string_to_table(${lines(done, ({ poolId }) => poolId)}, E'\\n')`,
        names: sql`, tenant_id, pool_id`,
        isSame: sql`q.tenant_id = n.tenant_id and q.pool_id = n.pool_id`,
      };
  const leasedAtMs = sql`floor(date_part('epoch', q.leased_at) * 1000)`;
  // Only leased items have a token. Rows are looked up one by one and deleted by ctid: for a join, or a filter by state,
  // the planner may choose a full scan if the table was empty when its statistics were collected. The history copies the rows
  // from the table, where this statement still sees them, because PostgreSQL would write deleted rows to a temporary store.
  return sql`
    with locked as materialized (
      select q.place from (
        select * from rows from (
          string_to_table(${lines(done, ({ id }) => id)}, E'\\n'),
          string_to_table(${lines(done, ({ token }) => token)}, E'\\n') ${pools.lists}
        ) with ordinality as done(id, token ${pools.names}, nth) order by nth
      ) n cross join lateral (
        select q.ctid as place, q.lease_token, q.revived, q.blocks, q.evidence from queue_items q
        where q.id = n.id and ${pools.isSame}
        limit 1 for update
      ) q
      where q.lease_token = n.token and not q.revived and q.blocks is not true
        and strpos(q.evidence, '"experiments":[{') = 0
    ), ended as (
      delete from queue_items q where q.ctid = any(array(select place from locked))
      returning q.tenant_id, q.id, q.pool_id, q.recipient_id, q.attempt, ${leasedAtMs} as leased_at_ms
    ) ${hasResults ? sql`, ${resultRows(sql, done)}` : sql``}, archived as (
      insert into routing_history (${historyColumns(sql)}, state, ended_at, done_token, succeeded, latency_ms
        ${hasResults ? sql`, result` : sql``})
      select ${historyColumns(sql)}, 'completed', ${now}::timestamptz, lease_token,
        case when recipient_id <> '' and not reported then true end,
        greatest(0, ${nowMs}::float8 - ${leasedAtMs}) ${hasResults ? sql`, value` : sql``}
      from queue_items q ${hasResults ? sql`left join results on item_key = tenant_id || id` : sql``}
      where q.ctid = any(array(select place from locked))
    ), counted as (
      insert into queue_daily_counts (tenant_id, pool_id, day, shard, completed)
      select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, count(*) from ended
      group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, day, shard) do update set completed = queue_daily_counts.completed + excluded.completed
    )
    select tenant_id, id, recipient_id, leased_at_ms, attempt from ended`;
}

/** A common table expression with the results, by the keys of their items. */
function resultRows(sql: Sql, done: readonly Completion[]): Fragment {
  const given = done.filter(({ result }) => result !== undefined);
  return sql`
    results as (
      select item_key, value::json as value from rows from (
        string_to_table(${lines(given, ({ tenantId, id }) => tenantId + id)}, E'\\n'),
        string_to_table(${lines(given, ({ result }) => JSON.stringify(result))}, E'\\n')
      ) as results(item_key, value)
    )`;
}
