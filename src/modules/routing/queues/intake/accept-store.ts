import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { claimBatch } from "../../../../platform/idempotency/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type ConstraintKind, insertMissingGroupsSql } from "../../admission/index.ts";
import {
  type AcceptedBatch,
  type InputRow,
  type ItemEventRow,
  inputRows,
  type Shape,
  shapeOf,
} from "./accept-input.ts";

/**
 * Writes the rows of many calls in one statement; returns the indices of calls whose key was used before.
 * Without a shard, counts are not updated: the caller has more work in its transaction and writes counts at the end.
 * With `room` (see claimPlacesSql), the statement fails when a group has no room, and nothing is written.
 */
export async function insertAcceptedBatches(
  sql: Sql,
  batches: readonly AcceptedBatch[],
  shard: number | undefined,
  room?: Fragment,
): Promise<ReadonlySet<number>> {
  const rows = batches.flatMap((batch) => batch.rows);
  // The batch index of each row.
  const batchIndices = batches.flatMap((batch, at) => batch.rows.map(() => at));
  const keyed = batches.some(({ record }) => record !== undefined);
  const queued = rows.some(({ item }) => item !== undefined);
  const limits = rows.flatMap(({ item }) => item?.limitGroups ?? []);
  const shape = shapeOf(rows);
  const accepted = keyed ? sql`accepted` : sql`input`;
  const hasRoom = room === undefined ? sql`true` : sql`(select room from room)`;
  // Read so that PostgreSQL inserts the groups first: parts of a statement that nothing reads run last.
  const hasGroups = limits.length === 0 ? hasRoom : sql`${hasRoom} and (select count(*) from limits) >= 0`;
  const isAccepted = keyed ? sql`${hasGroups} and batch not in (select batch_index from refused)` : hasGroups;
  const result = await sql<{ batch: number }[]>`
    with ${room === undefined ? sql`` : sql`${room},`} input as (
      ${inputRows(sql, rows, keyed ? batchIndices : undefined, shape)} where ${hasRoom}
    )
    ${keyed ? claimKeys(sql, batches) : sql``}
    ${limits.length === 0 ? sql`` : sql`, limits as (${insertMissingGroupsSql(sql, limits, ulidMs(rows[0]!.decision.id))} returning group_id)`}
    ${rows.every(({ item }) => item !== undefined) ? sql`` : insertDecisions(sql, accepted)}
    ${queued ? insertItems(sql, accepted, shape) : sql``}
    ${queued && shard !== undefined ? addAcceptedCounts(sql, batches, isAccepted, shard) : sql``}
    ${rows.some(({ events }) => events.length > 0) ? insertEvents(sql, rows, batchIndices, { keyed, ...shape }) : sql``}
    select ${keyed ? sql`batch_index as batch from refused` : sql`0 as batch where false`}`;
  return new Set(result.map(({ batch }) => batch));
}

/** The names of the group columns, each preceded by a comma. */
function groupColumns(sql: Sql, kinds: readonly ConstraintKind[]): Fragment {
  return ofKinds(sql, kinds, (kind) => sql`, ${sql(`${kind}_group`)}`);
}

function ofKinds(sql: Sql, kinds: readonly ConstraintKind[], part: (kind: ConstraintKind) => Fragment): Fragment {
  return kinds.reduce((before, kind) => sql`${before}${part(kind)}`, sql``);
}

/** Records the idempotency keys of calls, and filters out calls whose key was used before. */
function claimKeys(sql: Sql, batches: readonly AcceptedBatch[]): Fragment {
  const records = batches.flatMap(({ record }, batchIndex) => (record === undefined ? [] : [{ batchIndex, record }]));
  return sql`, ${claimBatch(sql, records)}, accepted as (
      select * from input where batch::int not in (select batch_index from refused)
    )`;
}

/** The columns of a decision that items and history share, and their values in the input. */
function decisionColumns(sql: Sql) {
  return {
    names: sql`type, key, attributes, requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence`,
    values: sql`type, key, attributes, requirements, payload, priority::int, outcome,
      coalesce(decided_for, ''), decode(snapshot_digest, 'hex'), seed::bigint, evidence`,
  };
}

/** Inserts the decisions that create no item. */
function insertDecisions(sql: Sql, accepted: Fragment): Fragment {
  const { names, values } = decisionColumns(sql);
  return sql`, decided as (
      insert into routing_history (tenant_id, id, pool_id, ended_at, ${names})
      select tenant_id, id, pool_id, now(), ${values} from ${accepted} where state is null
    )`;
}

/** Inserts the queue items with their decisions. */
function insertItems(sql: Sql, accepted: Fragment, { unusual, kinds, dependent, offered, retried }: Shape): Fragment {
  const { names, values } = decisionColumns(sql);
  const isReady = offered ? sql`(${isDue(sql)} or ${isNotOffered(sql)})` : isDue(sql);
  return sql`, queued as (
      insert into queue_items (tenant_id, id, pool_id, state, delivery, rank, expires_at ${groupColumns(sql, kinds)},
        ${names}, recipient_id, priority ${unusual ? sql`, due_at, hold_reason, own_ttl, lease_until, offer_number, offered_at` : sql``}
        ${dependent ? sql`, resume` : sql``} ${retried ? sql`, retry` : sql``})
      select tenant_id, id, pool_id, ${unusual ? sql`case when ${isReady} then 'ready' else state end` : sql`state`},
        delivery, rank::bigint, to_timestamp(expires_at_ms::float8 / 1000)
        ${ofKinds(sql, kinds, (kind) => sql`, coalesce(${sql(`${kind}_group`)}, '')`)}, ${values},
        ${
          unusual
            ? sql`case when hold_reason = 'offer' and ${isReady} then '' else coalesce(recipient_id, '') end,
              item_priority::int, case when not ${isReady} then greatest(
                now() + make_interval(secs => held_for_ms::float8 / 1000), to_timestamp(not_before_ms::float8 / 1000)) end,
              case when ${isReady} then '' else coalesce(hold_reason, '') end, own_ttl::boolean,
              now() + make_interval(secs => lease_s::int), case when hold_reason = 'offer' and not ${isReady} then 1 end,
              case when hold_reason = 'offer' and not ${isReady} then now() end`
            : sql`coalesce(decided_for, ''), priority::int`
        } ${dependent ? sql`, resume::json` : sql``} ${retried ? sql`, retry::json` : sql``}
      from ${accepted} as given where state is not null
    )`;
}

/** SQL condition: the queue of a `given` item is paused, so that it waits without a recipient instead of being offered to one. */
function isNotOffered(sql: Sql): Fragment {
  return sql`(coalesce(hold_reason, '') = 'offer' and ${isPaused(sql, sql`given.tenant_id`, sql`given.pool_id`)})`;
}

/** SQL condition: a queue is paused. */
function isPaused(sql: Sql, tenantId: Fragment, poolId: Fragment): Fragment {
  return sql`exists (
    select from queue_states s where s.tenant_id = ${tenantId} and s.pool_id = ${poolId} and s.paused)`;
}

/** SQL condition: the item waits only for its time, which has passed by the database's clock. */
function isDue(sql: Sql): Fragment {
  return sql`(coalesce(hold_reason, '') = 'not_before' and to_timestamp(not_before_ms::float8 / 1000) <= now())`;
}

/**
 * Adds to the counts of the pools. They are counted here: if a second part of the statement read the input, PostgreSQL would
 * store all of it before it inserts the first row. `isAccepted` is read before the counts are locked, so that groups and keys
 * are locked first.
 */
function addAcceptedCounts(sql: Sql, batches: readonly AcceptedBatch[], isAccepted: Fragment, shard: number): Fragment {
  return sql`, counts as (
      select tenant_id, pool_id, sum(depth) as depth, sum(accepted) as accepted
      from json_to_recordset(${JSON.stringify(batches.flatMap(countsOf))}::text::json)
        as counts(batch int, tenant_id text, pool_id text, depth bigint, accepted bigint)
      where ${isAccepted} group by tenant_id, pool_id order by tenant_id, pool_id
    ), deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select tenant_id, pool_id, ${shard}, depth from counts where depth > 0
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    ), counted as (
      insert into queue_daily_counts (tenant_id, pool_id, day, shard, accepted)
      select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, accepted from counts
      on conflict (tenant_id, pool_id, day, shard) do update set accepted = queue_daily_counts.accepted + excluded.accepted
    )`;
}

/** How many items a call adds to each pool. An item that is only tracked is not part of the depth. */
function countsOf({ rows }: AcceptedBatch, batch: number) {
  const counts = new Map<string, { depth: number; accepted: number }>();
  for (const { decision, item } of rows) {
    if (item === undefined) continue;
    const { depth, accepted } = counts.get(decision.poolId) ?? { depth: 0, accepted: 0 };
    counts.set(decision.poolId, { depth: depth + Number(item.state !== "leased"), accepted: accepted + 1 });
  }
  return [...counts].map(([poolId, count]) => ({
    batch,
    tenant_id: rows[0]!.decision.tenantId,
    pool_id: poolId,
    ...count,
  }));
}

function insertEvents(
  sql: Sql,
  rows: readonly InputRow[],
  batchIndices: readonly number[],
  { keyed, offered }: Pick<Shape, "offered"> & { readonly keyed: boolean },
): Fragment {
  const events = rows.flatMap(({ decision, events: each }, nth) =>
    each.map((event) => eventRow(decision.tenantId, event, batchIndices[nth]!)),
  );
  // An item of a paused queue was not offered.
  const isRecorded = offered
    ? sql`not (type = 'queue.item.offered' and ${isPaused(sql, sql`new_events.tenant_id`, sql`data ->> 'pool_id'`)})`
    : sql`true`;
  // Like the event log, this takes the environment of an event from its pool.
  return sql`, new_events as (
      insert into events (tenant_id, id, type, source, subject, time, data, environment_id, in_production)
      select new_events.tenant_id, new_events.id, type, source, subject, now(), data, place.id, place.key = 'production'
      from json_to_recordset(${JSON.stringify(events)}::text::json) as new_events(
        batch int, tenant_id text, id text, type text, source text, subject text, data jsonb)
      left join lateral (
        select e.id, e.key from pools p join environments e on e.tenant_id = p.tenant_id and e.id = p.environment_id
        where p.tenant_id = new_events.tenant_id and p.id = new_events.data ->> 'pool_id'
        limit 1
      ) place on true
      where ${isRecorded} ${keyed ? sql`and batch not in (select batch_index from refused)` : sql``}
    )`;
}

function eventRow(tenantId: TenantId, event: ItemEventRow, batch: number) {
  const { id, type, subject, data } = event;
  const source = `/${type.slice(0, type.indexOf("."))}`;
  return { batch, tenant_id: tenantId, id, type, source, subject, data };
}
