import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import type { FoundDecision } from "../decisions/decision-store.ts";
import type { ItemOutcome } from "../domain/facts/outlier.ts";

/** An item as it was decided, and what became of it. */
export interface RecordedItem
  extends Pick<
    FoundDecision,
    "id" | "type" | "key" | "attributes" | "requirements" | "priority" | "seed" | "outcome" | "recipientId" | "heldBy"
  > {
  /** Whether rules chose the pool. */
  readonly unaddressed: boolean;
  readonly payloadBytes: number;
  /** When a worker got it; null if none did. */
  readonly startedAtMs: number | null;
  /** When it ended; null for one that has not ended. */
  readonly endedAtMs: number | null;
  /** Null without an outcome. */
  readonly status: ItemOutcome["status"] | null;
  readonly latencyMs: number | null;
  readonly cost: number | null;
}

/** The items of a pool between two ids, both included. */
export interface RecordedRange {
  readonly poolId: string;
  readonly firstId: string;
  readonly lastId: string;
  readonly items: number;
  /** Whether the time range has more items than these. */
  readonly isCut: boolean;
}

/** The decisions of a tenant that are searched for those of a pool, for each item that is wanted. */
const searchFactor = 4;
const searchedMin = 50_000;
const pageSize = 500;

/** Finds the newest items of a pool in a time range; undefined if there are none. */
export async function findRecordedRange(
  sql: Sql,
  tenantId: TenantId,
  { poolId, from, until, itemsMax }: { poolId: string; from: Date; until: Date; itemsMax: number },
): Promise<RecordedRange | undefined> {
  const searchedMax = Math.max(searchedMin, itemsMax * searchFactor);
  const [row] = await sql<{ firstId: string | null; lastId: string; items: number; searched: number }[]>`
    with searched as (
      select id, pool_id from decisions
      where tenant_id = ${tenantId} and id >= ${lowestUlid(from.getTime())} and id < ${lowestUlid(until.getTime())}
      order by id desc limit ${searchedMax}
    ), chosen as (
      select id from searched where pool_id = ${poolId} order by id desc limit ${itemsMax}
    )
    select min(id) as first_id, max(id) as last_id, count(*)::int as items,
      (select count(*)::int from searched) as searched
    from chosen`;
  const { firstId, lastId, items, searched } = row!;
  if (firstId === null) return undefined;
  return { poolId, firstId, lastId, items, isCut: items === itemsMax || searched === searchedMax };
}

/** Reads the items of a range page by page, oldest first: what became of them, and what decides about them if that is wanted. */
export async function* readRecordedItems(sql: Sql, tenantId: TenantId, range: RecordedRange, withRequests: boolean) {
  const { poolId, firstId, lastId } = range;
  const request = withRequests
    ? sql`type, key, attributes, requirements, octet_length(payload) as payload_bytes,
        strpos(evidence, '"step":"pool"') > 0 as unaddressed`
    : sql`'' as type, '' as key, '{}'::varchar as attributes, '{}'::varchar as requirements, 0 as payload_bytes,
        false as unaddressed`;
  let after: string | undefined;
  do {
    const bounds = sql`
      tenant_id = ${tenantId} and pool_id = ${poolId} and id <= ${lastId}
      and ${after === undefined ? sql`id >= ${firstId}` : sql`id > ${after}`}`;
    const columns = sql`
      tenant_id, id, ${request}, decided_priority, seed, outcome, decided_for,
      coalesce(nullif(recipient_id, ''), decided_for) as held_by, leased_at, ended_at`;
    const page: RecordedItem[] = await sql<RecordedItem[]>`
      select i.id, type, key, attributes, requirements, decided_priority as priority, seed, outcome,
        decided_for as recipient_id, held_by, unaddressed, payload_bytes,
        ${epochMs(sql, sql`coalesce(i.leased_at, i.ended_at - make_interval(secs => done_ms / 1000))`)} as started_at_ms,
        ${epochMs(sql, sql`coalesce(i.ended_at, o.recorded_at)`)} as ended_at_ms,
        coalesce(o.status, case when succeeded then 'success' end) as status, coalesce(o.latency_ms, done_ms) as latency_ms,
        o.cost
      from (
        (select ${columns}, null::boolean as succeeded, null::double precision as done_ms
          from queue_items where ${bounds} order by id limit ${pageSize})
        union all
        (select ${columns}, succeeded, latency_ms from routing_history where ${bounds} order by id limit ${pageSize})
        order by id limit ${pageSize}
      ) i
      left join outcomes o on o.tenant_id = i.tenant_id and o.decision_id = i.id
      order by i.id`;
    yield page;
    after = page.length < pageSize ? undefined : page.at(-1)!.id;
  } while (after !== undefined);
}

function epochMs(sql: Sql, time: Fragment): Fragment {
  return sql`floor(extract(epoch from ${time}) * 1000)::double precision`;
}
