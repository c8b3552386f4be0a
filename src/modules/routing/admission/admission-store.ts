import type { EnvironmentMode, TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import {
  type BoundedCount,
  type Page,
  type PageRows,
  pageBytesMax,
  totalMax,
  totalOf,
} from "../../../platform/paging/index.ts";
import type { ConstraintKind, GroupRef, GroupStatus } from "./domain/group.ts";
import type { GroupRow } from "./group-store.ts";

/** A group as operators see it. */
export interface GroupRecord extends Omit<GroupRow, "itemStarted"> {
  readonly clearedBy: string;
  readonly clearedReason: string;
  /** Number of items waiting in the group, counted up to `countMax`. */
  readonly waiting: number;
}

/** Filter of a group list; an empty string matches everything. */
export interface GroupFilter {
  readonly environmentMode: EnvironmentMode;
  readonly environmentId: string;
  readonly poolId: string;
  readonly kind: ConstraintKind | "";
  readonly status: GroupStatus | "";
  /** The time at which the status is evaluated. */
  readonly now: Date;
}

/** Upper bound of the waiting count. */
const countMax = 1000;

/** The sort key of a group in lists. */
export function groupPosition({ kind, groupId }: GroupRef): string {
  return `${kind} ${groupId}`;
}

/** The SQL of the operations on admission groups. */
export function admissionStore(sql: Sql) {
  const count = (waiting: Fragment): Fragment => sql`
    (select count(*) from (
      select from queue_items q where q.tenant_id = g.tenant_id and q.state = 'ready' and ${waiting} limit ${countMax}
    ) waiting)`;
  const columns = sql`
    g.tenant_id, g.kind, g.group_id, g.environment_id, g.pool_id, g.item_id, g.since, g.until, g.tat_ms, g.slots,
    g.in_use, g.updated_at, g.cleared_at, g.cleared_by, g.cleared_reason,
    case g.kind
      when 'concurrency' then ${count(sql`q.concurrency_group = g.group_id and q.concurrency_group <> ''`)}
      when 'throttle' then ${count(sql`q.throttle_group = g.group_id and q.throttle_group <> ''`)}
      when 'debounce' then (g.item_id <> '')::int
      else 0
    end::int as waiting`;

  return {
    find: (tenantId: TenantId, { kind, groupId }: GroupRef) =>
      sql<GroupRecord[]>`
        select ${columns} from admission_groups g
        where g.tenant_id = ${tenantId} and g.kind = ${kind} and g.group_id = ${groupId}`.first(),

    /** Locks the group row until the transaction ends. */
    async lock(tenantId: TenantId, { kind, groupId }: GroupRef): Promise<void> {
      await sql`
        select from admission_groups
        where tenant_id = ${tenantId} and kind = ${kind} and group_id = ${groupId} for update`;
    },

    /** Resets a group, as if it had never been used. */
    async clear(
      tenantId: TenantId,
      { kind, groupId }: GroupRef,
      { by, reason, at }: { by: string; reason: string; at: Date },
    ): Promise<void> {
      await sql`
        update admission_groups set item_id = '', since = null, until = null, tat_ms = 0,
          cleared_at = ${at}, cleared_by = ${by}, cleared_reason = ${reason}, updated_at = ${at}
        where tenant_id = ${tenantId} and kind = ${kind} and group_id = ${groupId}`;
    },

    /** Makes the item that waits in a debounce group due now. */
    async endWindow(tenantId: TenantId, { groupId }: GroupRef, itemId: string, now: Date): Promise<void> {
      await sql`
        update queue_items set due_at = ${now}
        where tenant_id = ${tenantId} and id = ${itemId} and state = 'held' and hold_reason = 'debounce'
          and debounce_group = ${groupId} and due_at > ${now}`;
    },

    /** Removes all waiting items from a throttle group. Their number is bounded by the pool's queue depth. */
    async endThrottling(tenantId: TenantId, { groupId }: GroupRef): Promise<void> {
      // Lock items in the global lock order to avoid deadlocks.
      await sql`
        with throttled as (
          select id from queue_items
          where tenant_id = ${tenantId} and throttle_group = ${groupId} and throttle_group <> '' and state = 'ready'
          order by id for update
        )
        update queue_items q set throttle_group = '' from throttled
        where q.tenant_id = ${tenantId} and q.id = throttled.id`;
    },

    async list(tenantId: TenantId, filter: GroupFilter, page: Page): Promise<PageRows<GroupRecord>> {
      const { environmentId, poolId, kind, status } = filter;
      const where = sql`
        g.tenant_id = ${tenantId} ${usableBy(sql, tenantId, filter.environmentMode)}
        ${environmentId === "" ? sql`` : sql`and g.environment_id = ${environmentId}`}
        ${poolId === "" ? sql`` : sql`and g.pool_id = ${poolId}`}
        ${kind === "" ? sql`` : sql`and g.kind = ${kind}`}
        ${status === "" ? sql`` : sql`and ${statusOf(sql, filter.now)} = ${status}`}`;
      const [afterKind = "", afterId = ""] = page.after?.split(" ") ?? [];
      const rows = await sql<GroupRecord[]>`
        select ${columns} from admission_groups g
        where ${where} ${page.after === undefined ? sql`` : sql`and (g.kind, g.group_id) > (${afterKind}, ${afterId})`}
        order by g.kind, g.group_id limit ${page.fetch} offset ${page.offset}`.firstRows(pageBytesMax, page.fetch);
      const { isCut } = rows;
      if (page.after !== undefined) return { rows, total: undefined, isCut };
      const counted = await sql<BoundedCount[]>`
        select count(*)::int as count, count(*)::int as seen from (
          select from admission_groups g where ${where} order by g.kind, g.group_id limit ${totalMax + 1}) as counted`;
      return { rows, total: totalOf(counted), isCut };
    },
  };
}

/**
 * Deletes one batch of groups that have not been used since `before` and hold no state that matters. The next use of
 * such a group creates it again.
 */
export async function deleteIdleGroups(sql: Sql, before: Date, limit: number): Promise<number> {
  const deleted = await sql`
    with idle as (
      select g.tenant_id, g.kind, g.group_id from admission_groups g
      where g.updated_at < ${before} and case g.kind
        when 'singleton' then g.item_id = '' or g.until < ${before}
        when 'debounce' then g.item_id = ''
        when 'throttle' then g.tat_ms < ${before.getTime()} and not exists (
          select from queue_items q where q.tenant_id = g.tenant_id and q.throttle_group = g.group_id
            and q.state = 'ready' and q.throttle_group <> '')
        else g.in_use = 0 and not exists (
          select from queue_items q where q.tenant_id = g.tenant_id and q.concurrency_group = g.group_id
            and q.state = 'ready' and q.concurrency_group <> '')
        end
      order by g.updated_at limit ${limit} for update skip locked
    )
    delete from admission_groups g using idle
    where g.tenant_id = idle.tenant_id and g.kind = idle.kind and g.group_id = idle.group_id`;
  return deleted.count;
}

/** Restricts groups to the environments that the caller may use. */
function usableBy(sql: Sql, tenantId: TenantId, mode: EnvironmentMode): Fragment {
  const production = sql`(select id from environments where tenant_id = ${tenantId} and key = 'production')`;
  return {
    any: sql``,
    production_only: sql`and g.environment_id in ${production}`,
    non_production_only: sql`and g.environment_id not in ${production}`,
  }[mode];
}

/** The SQL equivalent of `groupStatus` in domain/group.ts. */
function statusOf(sql: Sql, now: Date): Fragment {
  return sql`
    case
      when g.cleared_at is not null then 'cleared'
      when g.kind = 'concurrency' then case when g.in_use >= g.slots then 'saturated' else 'open' end
      when g.kind = 'throttle' then case
        when g.until > ${now} then 'cooling'
        when g.tat_ms > ${now.getTime()} then 'open'
        else 'expired' end
      when g.item_id = '' then 'open'
      when g.until > ${now} then case g.kind when 'singleton' then 'saturated' else 'cooling' end
      else 'expired'
    end`;
}
