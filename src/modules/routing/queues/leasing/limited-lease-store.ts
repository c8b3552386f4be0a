import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { LeaseLimits, LimitedItem } from "../../admission/index.ts";
import { goesOn, isReady, type LeaseScope } from "./lease-store.ts";

/** Where a walk over the groups of a pool stands. */
export interface GroupPlace {
  readonly recipientId: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/** The items that go first by rank, read without a lock. */
export async function firstCandidates(sql: Sql, asked: LeaseScope, limit: number): Promise<LimitedItem[]> {
  const { tenantId, poolId, recipientIds } = asked;
  return sql`
    select each.id, each.throttle_group, each.concurrency_group
    from unnest(${recipientIds as string[]}::text[]) as wanted(recipient_id)
    cross join lateral (
      select q.id, q.rank, q.throttle_group, q.concurrency_group from queue_items q
      where ${isReady(sql, asked)} and q.recipient_id = wanted.recipient_id
      order by q.rank, q.id limit ${limit}
    ) each
    where ${goesOn(sql, tenantId, poolId)}
    order by each.rank, each.id limit ${limit}`;
}

/** The named ones among those that can be handed out, in their order. */
export async function namedCandidates(sql: Sql, asked: LeaseScope, ids: readonly string[]): Promise<LimitedItem[]> {
  const { tenantId, poolId, recipientIds } = asked;
  return sql`
    select q.id, q.throttle_group, q.concurrency_group from queue_items q
    where ${isReady(sql, asked)} and q.id = any(${ids as string[]}::text[])
      and q.recipient_id = any(${recipientIds as string[]}::text[]) and ${goesOn(sql, tenantId, poolId)}
    order by q.rank, q.id`;
}

/**
 * Walks over the groups in which items wait, so many from a place on, and answers with the first items of each; `last` is
 * where it stopped before the end. It leaps from group to group: what it costs does not grow with the items of one.
 */
export async function candidatesByGroup(
  sql: Sql,
  asked: LeaseScope,
  after: GroupPlace | undefined,
  { groups, perGroup }: { readonly groups: number; readonly perGroup: number },
): Promise<{ candidates: LimitedItem[]; last: GroupPlace | undefined }> {
  const { tenantId, poolId, recipientIds } = asked;
  const { recipientId = "", throttleGroup = "", concurrencyGroup = "" } = after ?? {};
  // Only one recipient's where only one asks; of those who share the pool some may get no work now.
  const own = recipientIds.length === 1 ? sql`and q.recipient_id = ${recipientIds[0]!}` : sql``;
  const limited = sql`
    q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready'
      and (q.throttle_group <> '' or q.concurrency_group <> '') ${own}`;
  const place = sql`q.recipient_id, q.throttle_group, q.concurrency_group`;
  const rows = await sql<(GroupPlace & { nth: number; items: LimitedItem[] | null })[]>`
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
        where ${isReady(sql, asked)} and (q.throttle_group <> '' or q.concurrency_group <> '')
          and q.recipient_id = p.recipient_id and q.throttle_group = p.throttle_group
          and q.concurrency_group = p.concurrency_group and p.recipient_id = any(${recipientIds as string[]}::text[])
        order by q.rank, q.id limit ${perGroup}
      ) first
    ) as items
    from place p where ${goesOn(sql, tenantId, poolId)}`;
  const candidates = rows.flatMap(({ items, throttleGroup, concurrencyGroup }) =>
    ((items ?? []) as unknown as { id: string; rank: number }[]).map((item) => ({
      ...item,
      throttleGroup,
      concurrencyGroup,
    })),
  );
  candidates.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  return { candidates, last: rows.find(({ nth }) => nth === groups) };
}

/** What a pool's settings say of its limits; what they leave out has its default. */
export type LimitSettings = { readonly [K in keyof LeaseLimits]?: object };

/** The database's time, and a pool's limits as they are now: what a node knows of them may be some moments old. */
export async function limitsNow(
  tx: Sql,
  tenantId: TenantId,
  poolId: string,
): Promise<{ nowMs: number; settings: LimitSettings | undefined }> {
  const [row] = await tx<{ nowMs: number; settings: LimitSettings | null }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, (
      select coalesce(p.config -> 'admission', '{}') from pools p
      where p.tenant_id = ${tenantId} and p.id = ${poolId}) as settings`;
  return { nowMs: row!.nowMs, settings: row!.settings ?? undefined };
}
