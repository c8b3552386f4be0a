import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Schedule } from "./domain/schedule.ts";

/** When a schedule fires next. */
export interface SchedulePosition {
  readonly nextAt: Date | null;
  /** The next time with its jitter. */
  readonly firesAt: Date | null;
}

export type NewSchedule = Omit<
  Schedule,
  | "generation"
  | "nextAt"
  | "lastFiredAt"
  | "lastItemId"
  | "lastError"
  | "consecutiveFailures"
  | "updatedAt"
  | "recordVersion"
>;

/** A change of a schedule. Undefined fields stay unchanged. */
export interface StoredChange extends Partial<Omit<NewSchedule, "tenantId" | "id" | "createdAt">> {
  /** Set when the schedule fires from here: times before are not for it. */
  readonly position?: SchedulePosition | undefined;
}

/** What only the worker reads. */
interface StoredTimes {
  readonly shard: number;
  readonly firesAt: Date | null;
  readonly dueAt: Date | null;
}

export interface ScheduleFilter {
  /** Empty for all. */
  readonly poolId: string;
  readonly pausedOnly: boolean;
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

const schedules = recordTable<
  Schedule,
  StoredTimes,
  NewSchedule & StoredTimes & Pick<Schedule, "updatedAt" | "nextAt">
>("routing_schedules", {
  fixed: "tenant_id id created_at",
  mutable: `environment_id environment_key pool_id name timing item paused paused_reason paused_by generation next_at
      last_fired_at last_item_id last_error consecutive_failures updated_at record_version`,
  internal: "shard fires_at due_at",
});

export function scheduleColumns(sql: Sql): Fragment {
  return schedules(sql).columns;
}

/** When a schedule `s` needs attention: when it fires, or earlier for a run without a final state. */
export function dueSql(sql: Sql): Fragment {
  return sql`least(s.fires_at, (
    select min(r.due_at) from routing_schedule_runs r
    where r.tenant_id = s.tenant_id and r.schedule_id = s.id and r.due_at is not null))`;
}

/** The SQL queries of schedules for callers. */
export function scheduleStore(sql: Sql) {
  const { count, find, lock, insert, set, listWhere } = schedules(sql);
  return {
    count,
    find,
    lock,

    /** Whether another schedule of the environment has a name. */
    async isNameTaken(tenantId: TenantId, environmentId: string, name: string, exceptId: string): Promise<boolean> {
      const rows = await sql`
        select from routing_schedules where tenant_id = ${tenantId} and environment_id = ${environmentId}
          and name = ${name} and id <> ${exceptId}`;
      return rows.length > 0;
    },

    insert: (schedule: NewSchedule, shard: number, { nextAt, firesAt }: SchedulePosition) =>
      insert({ ...schedule, shard, nextAt, firesAt, dueAt: firesAt, updatedAt: schedule.createdAt }),

    list: (tenantId: TenantId, { pausedOnly, ...equal }: ScheduleFilter, page: Page) =>
      listWhere(tenantId, equal, page, { where: pausedOnly ? sql`paused` : undefined }),

    /** Changes a schedule; undefined if it has another version than expected. */
    update(tenantId: TenantId, id: string, change: StoredChange, expectedVersion: number | undefined, now: Date) {
      const { environmentId, environmentKey, poolId, name, timing, item, position } = change;
      const { paused, pausedReason, pausedBy } = change;
      const assignments = sql`
        environment_id = coalesce(${environmentId ?? null}, environment_id),
        environment_key = coalesce(${environmentKey ?? null}, environment_key),
        pool_id = coalesce(${poolId ?? null}, pool_id), name = coalesce(${name ?? null}, name),
        timing = coalesce(${timing === undefined ? null : JSON.stringify(timing)}::text::json, timing),
        item = coalesce(${item === undefined ? null : JSON.stringify(item)}::text::json, item),
        paused = coalesce(${paused ?? null}::boolean, paused),
        paused_reason = coalesce(${pausedReason ?? null}, paused_reason),
        paused_by = coalesce(${pausedBy ?? null}, paused_by)
        ${paused === false ? sql`, consecutive_failures = 0` : sql``}
        ${
          position === undefined
            ? sql``
            : sql`, next_at = ${position.nextAt}, fires_at = ${position.firesAt}, generation = generation + 1`
        }`;
      const isExpected = sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
      return set(tenantId, id, now, assignments, isExpected);
    },

    /** Computes anew when a schedule needs attention. */
    async refreshDue(tenantId: TenantId, id: string): Promise<void> {
      await sql`update routing_schedules s set due_at = ${dueSql(sql)} where tenant_id = ${tenantId} and id = ${id}`;
    },

    /** Deletes a schedule and its runs. */
    async remove(tenantId: TenantId, id: string): Promise<void> {
      await sql`
        with runs as (delete from routing_schedule_runs where tenant_id = ${tenantId} and schedule_id = ${id})
        delete from routing_schedules where tenant_id = ${tenantId} and id = ${id}`;
    },
  };
}
