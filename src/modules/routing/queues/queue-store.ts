import type { Principal, TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { ulidMs } from "../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { GroupMember } from "../admission/index.ts";
import { usablePools } from "../pools/index.ts";
import type { ItemDetails, QueueItem } from "./domain/queue-item.ts";
import { withDetails } from "./item-detail-store.ts";
import { readItemOffers } from "./offers/item-offer-store.ts";
import { withSurvivors } from "./survivor-store.ts";

export interface QueueStatus {
  readonly poolId: string;
  readonly poolName: string;
  readonly environmentId: string;
  readonly paused: boolean;
  readonly pausedAt: Date | null;
  readonly pausedBy: string;
  readonly pauseReason: string;
  /** When it is resumed by itself; null for never. */
  readonly pausedUntil: Date | null;
  readonly depth: number;
  readonly readyCount: number;
  readonly inFlight: number;
  readonly oldestAgeMs: number;
  readonly leasedToday: number;
  readonly waitMsToday: number;
  readonly completedToday: number;
  readonly acceptedToday: number;
  readonly failedToday: number;
}

/** A pause or a resumption of a queue. */
export interface PauseChange {
  readonly paused: boolean;
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
  /** When a paused queue is resumed by itself; null for never. */
  readonly until: Date | null;
}

/** The sums of all queues that a caller may see. */
export interface QueueTotals {
  readonly queueCount: number;
  readonly pausedCount: number;
  readonly depth: number;
  readonly inFlight: number;
  readonly oldestId: string | null;
  readonly acceptedToday: number;
  readonly completedToday: number;
  readonly failedToday: number;
  /** The pools in which the most items wait, fullest first. */
  readonly fullestIds: readonly string[];
}

/** Filter for listing queues. */
export interface QueueFilter {
  readonly pausedOnly: boolean;
  /** The id or key of an environment; empty for all. */
  readonly environmentId: string;
  /** Whose pools are listed. */
  readonly principal: Principal;
}

/** Filter for listing items. */
export interface ItemFilter {
  readonly state: string;
  readonly recipientId: string;
}

/** How many of the fullest queues totals name. */
const fullestMax = 8;

/** The count of ready items in a status stops at this value. */
const readyCountMax = 100_000;

/** Reads the statuses of queues in one statement. */
export async function queueStatuses(sql: Sql, tenantId: TenantId, poolIds: readonly string[], nowMs: number) {
  const rows = await sql<(Omit<QueueStatus, "oldestAgeMs"> & { oldestId: string | null })[]>`
    select p.id as pool_id, p.name as pool_name, p.environment_id, coalesce(s.paused, false) as paused, s.paused_at,
      coalesce(s.paused_by, '') as paused_by, coalesce(s.reason, '') as pause_reason, s.resume_at as paused_until,
      (select coalesce(sum(depth), 0)::bigint from queue_depths d where d.tenant_id = p.tenant_id and d.pool_id = p.id)
        as depth,
      (select count(*) from (select from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id
        and q.state = 'ready' limit ${readyCountMax}) ready) as ready_count,
      (select count(*) from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id and q.state = 'leased')
        as in_flight,
      (select q.id from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id
        and q.state in ('pending', 'held', 'ready') order by q.id limit 1) as oldest_id,
      today.*
    from pools p
    left join queue_states s on s.tenant_id = p.tenant_id and s.pool_id = p.id
    cross join lateral (
      select coalesce(sum(leased), 0)::bigint as leased_today, coalesce(sum(wait_ms), 0)::bigint as wait_ms_today,
        coalesce(sum(completed), 0)::bigint as completed_today, coalesce(sum(accepted), 0)::bigint as accepted_today,
        coalesce(sum(failed), 0)::bigint as failed_today
      from queue_daily_counts d
      where d.tenant_id = p.tenant_id and d.pool_id = p.id and d.day = (now() at time zone 'utc')::date
    ) today
    where p.tenant_id = ${tenantId} and p.id = any(${poolIds as string[]}::text[])`;
  return new Map(
    rows.map(({ oldestId, ...row }) => [
      row.poolId,
      { ...row, oldestAgeMs: oldestId === null ? 0 : Math.max(0, nowMs - ulidMs(oldestId)) },
    ]),
  );
}

export function queueStore(sql: Sql) {
  const itemColumns = sql`
    tenant_id, id, pool_id, recipient_id, state, hold_reason, priority, due_at, expires_at, attempt, leased_at,
    lease_until, ended_at, superseded_by_id, failures, singleton_group, debounce_group, throttle_group, concurrency_group,
    assign_tries, assign_reason, assign_after, type, key, attributes, payload`;
  return {
    async listPools(tenantId: TenantId, filter: QueueFilter, page: Page): Promise<PageRows<{ id: string }>> {
      const where = sql`${usablePools(sql, tenantId, filter.principal, filter.environmentId)} and status <> 'archived'
        ${
          filter.pausedOnly
            ? sql`and id in (select pool_id from queue_states where tenant_id = ${tenantId} and paused)`
            : sql``
        }`;
      return readKeyset<{ id: string }>(sql, { columns: sql`id`, table: "pools", where }, page);
    },

    /** Sums all queues, or those of an environment, in one statement. */
    async totals(tenantId: TenantId, principal: Principal, environmentId: string): Promise<QueueTotals> {
      const [row] = await sql<QueueTotals[]>`
        with usable as materialized (
          select id from pools where ${usablePools(sql, tenantId, principal, environmentId)} and status <> 'archived'
        ), depths as materialized (
          select pool_id, sum(depth) as depth from queue_depths
          where tenant_id = ${tenantId} and pool_id in (select id from usable) group by 1 having sum(depth) > 0
        ), today as (
          select sum(accepted) as accepted, sum(completed) as completed, sum(failed) as failed
          from usable join queue_daily_counts d on d.tenant_id = ${tenantId} and d.pool_id = usable.id
            and d.day = (now() at time zone 'utc')::date
        )
        select (select count(*) from usable) as queue_count,
          (select count(*) from queue_states s where s.tenant_id = ${tenantId} and paused and pool_id in (select id from usable))
            as paused_count,
          (select coalesce(sum(depth), 0)::bigint from depths) as depth,
          (select count(*) from usable join queue_items q on q.tenant_id = ${tenantId} and q.pool_id = usable.id
            and q.state = 'leased') as in_flight,
          (select min(oldest.id) from depths cross join lateral (
            select q.id from queue_items q where q.tenant_id = ${tenantId} and q.pool_id = depths.pool_id
              and q.state in ('pending', 'held', 'ready')
            order by q.id limit 1) oldest) as oldest_id,
          coalesce(accepted, 0)::bigint as accepted_today, coalesce(completed, 0)::bigint as completed_today,
          coalesce(failed, 0)::bigint as failed_today,
          array(select pool_id from depths order by depth desc, pool_id limit ${fullestMax}) as fullest_ids
        from today`;
      return row!;
    },

    /** Pauses or resumes a queue. A repeated pause keeps the time of the first one. */
    async setPaused(tenantId: TenantId, poolId: string, change: PauseChange): Promise<void> {
      const { paused, at, by, reason, until } = change;
      await sql`
        insert into queue_states (tenant_id, pool_id, paused, paused_at, paused_by, reason, resume_at)
        values (${tenantId}, ${poolId}, ${paused}, ${paused ? at : null}, ${by}, ${reason}, ${until})
        on conflict (tenant_id, pool_id) do update set paused = excluded.paused,
          paused_at = case when excluded.paused and queue_states.paused then queue_states.paused_at
            else excluded.paused_at end,
          paused_by = excluded.paused_by, reason = excluded.reason, resume_at = excluded.resume_at`;
    },

    /** The items that have waited the longest. */
    async oldest(tenantId: TenantId, poolId: string, limit: number) {
      return sql<(GroupMember & { readonly id: string })[]>`
        select tenant_id, id, singleton_group, debounce_group, concurrency_group from queue_items
        where tenant_id = ${tenantId} and pool_id = ${poolId} and state in ('pending', 'held', 'ready')
        order by id limit ${limit}`;
    },

    /** Whether a worker or a node leased an item in the last milliseconds: any item of the pool, or the one with the id. */
    async isRecentlyLeased(tenantId: TenantId, poolId: string, ms: number, id?: string): Promise<boolean> {
      const [row] = await sql<{ found: boolean }[]>`
        select exists (
          select from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'leased'
            and delivery = 'pull' and leased_at > clock_timestamp() - make_interval(secs => ${ms / 1000})
            ${id === undefined ? sql`` : sql`and id = ${id}`}) as found`;
      return row!.found;
    },

    /** The token of the lease that a worker has on an item; undefined if it has none. */
    async findLeaseToken(tenantId: TenantId, poolId: string, id: string): Promise<string | undefined> {
      const [row] = await sql<{ leaseToken: string }[]>`
        select lease_token from queue_items
        where tenant_id = ${tenantId} and pool_id = ${poolId} and id = ${id} and state = 'leased' and delivery <> 'none'`;
      return row?.leaseToken;
    },

    async depth(tenantId: TenantId, poolId: string): Promise<number> {
      const [row] = await sql<{ depth: number }[]>`
        select coalesce(sum(depth), 0)::bigint as depth from queue_depths
        where tenant_id = ${tenantId} and pool_id = ${poolId}`;
      return row!.depth;
    },

    async findItem(tenantId: TenantId, poolId: string, id: string): Promise<QueueItem | undefined> {
      const [row] = await sql<StoredItem[]>`
        select ${itemColumns} from all_items where tenant_id = ${tenantId} and pool_id = ${poolId} and id = ${id}`;
      return row && (await withRelated(sql, tenantId, [row]))[0];
    },

    async listItems(tenantId: TenantId, poolId: string, filter: ItemFilter, page: Page): Promise<PageRows<QueueItem>> {
      const ofPool = sql`pool_id = ${poolId} ${filter.state === "" ? sql`` : sql`and state = ${filter.state}`}`;
      const ofRecipient = filter.recipientId === "" ? undefined : sql`recipient_id = ${filter.recipientId}`;
      // Only waiting and leased items have an index by pool.
      const selection = ["pending", "held", "ready", "leased"].includes(filter.state)
        ? { where: sql`not archived and tenant_id = ${tenantId} and ${ofPool}`, filter: ofRecipient }
        : { where: sql`tenant_id = ${tenantId}`, filter: sql`${ofPool} and ${ofRecipient ?? sql`true`}` };
      const { rows, ...found } = await readKeyset<StoredItem>(
        sql,
        { columns: itemColumns, table: "all_items", newestFirst: true, ...selection },
        page,
      );
      const items = await withRelated(sql, tenantId, rows);
      return { ...found, rows: items, isCut: found.isCut || items.length < rows.length };
    },
  };
}

type StoredItem = Omit<QueueItem, "offers" | keyof ItemDetails>;

/** Adds the last survivors of items, their offers and their details. */
async function withRelated(sql: Sql, tenantId: TenantId, rows: readonly StoredItem[]): Promise<QueueItem[]> {
  const ids = rows.map(({ id }) => id);
  const [items, offers] = await Promise.all([
    withSurvivors(sql, tenantId, rows).then((found) => withDetails(sql, tenantId, found)),
    readItemOffers(sql, tenantId, ids),
  ]);
  return items.map((item) => ({ ...item, offers: offers.get(item.id) ?? [] }));
}
