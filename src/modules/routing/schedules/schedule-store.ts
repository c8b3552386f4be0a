import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
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

/** What only the worker reads. */
interface StoredTimes {
  readonly shard: number;
  readonly firesAt: Date | null;
  readonly dueAt: Date | null;
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
  const { count, find, lock, insert, update, listWhere } = schedules(sql);
  return {
    count,
    find,
    lock,
    update,
    list: listWhere,

    /** Whether another schedule of the environment has a name. */
    async isNameTaken(tenantId: TenantId, environmentId: string, name: string, exceptId: string): Promise<boolean> {
      const rows = await sql`
        select from routing_schedules where tenant_id = ${tenantId} and environment_id = ${environmentId}
          and name = ${name} and id <> ${exceptId}`;
      return rows.length > 0;
    },

    insert: (schedule: NewSchedule, shard: number, { nextAt, firesAt }: SchedulePosition) =>
      insert({ ...schedule, shard, nextAt, firesAt, dueAt: firesAt, updatedAt: schedule.createdAt }),

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
