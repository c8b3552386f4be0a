import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { LeaseLimits, LimitedItem } from "../../admission/index.ts";
import type { QueueItem } from "../domain/queue-item.ts";
import { isQueueActive, isReady, type LeaseScope } from "./lease-store.ts";

/** A position in the ordered groups of a pool. */
export type GroupPosition = Pick<QueueItem, "recipientId" | "throttleGroup" | "concurrencyGroup">;

/** Reads the first items by rank, without a lock. */
export async function firstCandidates(sql: Sql, scope: LeaseScope, limit: number): Promise<LimitedItem[]> {
  const { tenantId, poolId, recipientIds } = scope;
  return sql`
    select each.id, each.throttle_group, each.concurrency_group
    from unnest(${recipientIds as string[]}::text[]) as wanted(recipient_id)
    cross join lateral (
      select q.id, q.rank, q.throttle_group, q.concurrency_group from queue_items q
      where ${isReady(sql, scope)} and q.recipient_id = wanted.recipient_id
      order by q.rank, q.id limit ${limit}
    ) each
    where ${isQueueActive(sql, tenantId, poolId)}
    order by each.rank, each.id limit ${limit}`;
}

/** Reads the given items that can be leased, by rank. */
export async function namedCandidates(sql: Sql, scope: LeaseScope, ids: readonly string[]): Promise<LimitedItem[]> {
  const { tenantId, poolId, recipientIds } = scope;
  return sql`
    select q.id, q.throttle_group, q.concurrency_group from queue_items q
    where ${isReady(sql, scope)} and q.id = any(${ids as string[]}::text[])
      and q.recipient_id = any(${recipientIds as string[]}::text[]) and ${isQueueActive(sql, tenantId, poolId)}
    order by q.rank, q.id`;
}

/** A candidate that was found by its group. */
export interface GroupedCandidate extends LimitedItem, GroupPosition {
  readonly rank: number;
  /** Its place among the items of its group, from 0. */
  readonly turn: number;
}

/** How many groups to read, and how many items of each. */
interface ScanSize {
  readonly groups: number;
  readonly perGroup: number;
}

/**
 * Reads the first items of up to `groups` groups with waiting items, after a position, group by group. `last` is the position
 * where it stopped before the end. A skip scan steps from group to group, so the cost does not depend on the size of a group.
 */
export async function candidatesByGroup(
  sql: Sql,
  scope: LeaseScope,
  after: GroupPosition | undefined,
  { groups, perGroup }: ScanSize,
): Promise<{ candidates: GroupedCandidate[]; last: GroupPosition | undefined }> {
  const { tenantId, poolId, recipientIds } = scope;
  const { recipientId = "", throttleGroup = "", concurrencyGroup = "" } = after ?? {};
  // A single recipient narrows the scan. With several, recipients that get no work now are filtered out below.
  const own = recipientIds.length === 1 ? sql`and q.recipient_id = ${recipientIds[0]!}` : sql``;
  const limited = sql`
    q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready'
      and (q.throttle_group <> '' or q.concurrency_group <> '') ${own}`;
  const place = sql`q.recipient_id, q.throttle_group, q.concurrency_group`;
  const rows = await sql<(GroupPosition & { nth: number; items: { id: string; rank: number }[] | null })[]>`
    with recursive place as (
      (select ${place}, 1 as nth from queue_items q
       where ${limited} and (${place}) > (${recipientId}, ${throttleGroup}, ${concurrencyGroup})
       order by ${place} limit 1)
      union all
      select next.*, p.nth + 1 from place p cross join lateral (
        select ${place} from queue_items q
        where ${limited} and (${place}) > (p.recipient_id, p.throttle_group, p.concurrency_group)
        order by ${place} limit 1) next
      where p.nth < ${groups}
    )
    select p.*, (
      select json_agg(json_build_object('id', first.id, 'rank', first.rank)) from (
        select q.id, q.rank from queue_items q
        where ${isReady(sql, scope)} and (q.throttle_group <> '' or q.concurrency_group <> '')
          and q.recipient_id = p.recipient_id and q.throttle_group = p.throttle_group
          and q.concurrency_group = p.concurrency_group and p.recipient_id = any(${recipientIds as string[]}::text[])
        order by q.rank, q.id limit ${perGroup}
      ) first
    ) as items
    from place p where ${isQueueActive(sql, tenantId, poolId)} order by p.nth`;
  const candidates = rows.flatMap(({ items, nth: _, ...position }) =>
    (items ?? []).map((item, turn) => ({ ...item, ...position, turn })),
  );
  return { candidates, last: rows.find(({ nth }) => nth === groups) };
}

/**
 * Reads the items whose turn is next: the first of each group after a position, then the second of each, and so on. After
 * the last group comes the first one.
 */
export async function candidatesInTurn(
  sql: Sql,
  scope: LeaseScope,
  after: GroupPosition | undefined,
  size: ScanSize,
): Promise<GroupedCandidate[]> {
  const { candidates, last } = await candidatesByGroup(sql, scope, after, size);
  if (after !== undefined && last === undefined) {
    const known = new Set(candidates.map(({ id }) => id));
    const { candidates: others } = await candidatesByGroup(sql, scope, undefined, size);
    candidates.push(...others.filter(({ id }) => !known.has(id)));
  }
  // The sort is stable: groups keep their order.
  return candidates.sort((a, b) => a.turn - b.turn);
}

/** The limits in a pool's stored settings; omitted fields have their defaults. */
export type LimitSettings = { readonly [K in keyof LeaseLimits]?: object };

/** Reads the database's time and a pool's current limits. A node's snapshot of the limits may be slightly stale. */
export async function limitsNow(tx: Sql, tenantId: TenantId, poolId: string) {
  const [row] = await tx<{ nowMs: number; settings: LimitSettings | null }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, (
      select coalesce(p.config -> 'admission', '{}') from pools p
      where p.tenant_id = ${tenantId} and p.id = ${poolId}) as settings`;
  return { nowMs: row!.nowMs, settings: row!.settings ?? undefined };
}
