import type { TenantId } from "../../../platform/access/index.ts";
import { type Fragment, recordRows, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { failuresMax, runsKept, type Schedule, type ScheduleRun } from "./domain/schedule.ts";
import { dueSql, type SchedulePosition, scheduleColumns, scheduleStore } from "./schedule-store.ts";

/** A schedule that needs attention. */
export interface DueSchedule extends Schedule {
  readonly shard: number;
  readonly dueAt: Date;
}

/** A run without a final state, or with an item that may be unfinished. */
export interface UnsettledRun extends ScheduleRun {
  readonly open: boolean;
  readonly dueAt: Date | null;
}

/** An item of an earlier run that has not ended. */
export interface UnfinishedItem {
  readonly id: string;
  readonly poolId: string;
}

/** A run to record. */
export type NewRun = Pick<
  UnsettledRun,
  "tenantId" | "scheduleId" | "id" | "time" | "cause" | "state" | "request" | "dueAt" | "errorCode" | "errorMessage"
>;

export interface RunResult
  extends Pick<ScheduleRun, "itemId" | "decisionId" | "outcome" | "errorCode" | "errorMessage"> {
  readonly state: "routed" | "failed";
  /** Whether a later time cannot succeed before somebody changes something. */
  readonly permanent: boolean;
}

/** An attempt after which the run is attempted again. */
export interface Postponement {
  readonly state: "postponed";
  /** Why nothing was routed; empty if the item may have been routed. */
  readonly errorCode: string;
  readonly errorMessage: string;
}

/** A node's decisions about the due times of a schedule. */
export interface ScheduleDecision extends SchedulePosition {
  readonly schedule: DueSchedule;
  readonly recorded: readonly NewRun[];
  /** The run that waited and starts now. */
  readonly resumed: Pick<ScheduleRun, "id" | "request" | "errorCode" | "errorMessage"> | undefined;
  /** Runs that were postponed and that a newer run replaces. */
  readonly supersededRunIds: readonly string[];
  /** Runs whose items have ended. */
  readonly endedRunIds: readonly string[];
  /** Why a time did not fire; undefined if none was missed or superseded. */
  readonly error: string | undefined;
}

const unsettledMax = 200;

/** The SQL queries of runs. `current` selects the shards that the writing node owns. */
export function runStore(sql: Sql) {
  const { refreshDue } = scheduleStore(sql);
  const columns = sql`tenant_id, schedule_id, id, time, cause, state, request, item_id, decision_id, outcome, error_code,
    error_message, created_at, ended_at`;

  async function insertRuns(runs: readonly NewRun[], now: Date): Promise<void> {
    if (runs.length === 0) return;
    await sql`
      insert into routing_schedule_runs (tenant_id, schedule_id, id, time, cause, state, request, due_at, error_code,
        error_message, created_at, ended_at)
      select tenant_id, schedule_id, id, time, cause, state, request, due_at, error_code, error_message, ${now},
        case when state in ('starting', 'waiting') then null else ${now}::timestamptz end
      from ${recordRows(sql, "routing_schedule_runs", runs)}
      on conflict do nothing`;
  }

  /**
   * Locks a schedule until the transaction ends. Only a later statement sees all runs that others have recorded, so that it can
   * compute when the schedule needs attention.
   */
  async function lockSchedule(tenantId: TenantId, scheduleId: string): Promise<void> {
    await sql`select from routing_schedules where tenant_id = ${tenantId} and id = ${scheduleId} for update`;
  }

  /** Forgets the oldest runs. One decision records fewer runs than this removes. */
  async function removeOldRuns(tenantId: TenantId, scheduleId: string): Promise<void> {
    await sql`
      delete from routing_schedule_runs where (tenant_id, schedule_id, id) in (
        select tenant_id, schedule_id, id from routing_schedule_runs
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and not open and due_at is null
        order by id desc offset ${runsKept} limit 100)`;
  }

  return {
    insertRuns,

    find: (tenantId: TenantId, scheduleId: string, id: string) =>
      sql<ScheduleRun[]>`
        select ${columns} from routing_schedule_runs
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and id = ${id}`.first(),

    async list(tenantId: TenantId, scheduleId: string, state: string, page: Page): Promise<PageRows<ScheduleRun>> {
      const where = sql`tenant_id = ${tenantId} and schedule_id = ${scheduleId}
        ${state === "" ? sql`` : sql`and state = ${state}`}`;
      return readKeyset<ScheduleRun>(sql, { columns, table: "routing_schedule_runs", where, newestFirst: true }, page);
    },

    /** Skips the runs of a schedule that wait. */
    async skipWaiting(tenantId: TenantId, scheduleId: string, now: Date): Promise<void> {
      await sql`
        update routing_schedule_runs set state = 'skipped', due_at = null, ended_at = ${now}
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and state = 'waiting' and due_at is not null`;
    },

    /** Schedules of these shards that need attention, in the order of their times, after one of them. */
    async findDue(
      shards: readonly number[],
      nowMs: number,
      after: Pick<DueSchedule, "dueAt" | "id"> | undefined,
      limit: number,
    ): Promise<DueSchedule[]> {
      return sql<DueSchedule[]>`
        select ${scheduleColumns(sql)}, shard, due_at from routing_schedules
        where due_at <= ${new Date(nowMs)} and shard = any(${shards as number[]}::int[])
          ${after === undefined ? sql`` : sql`and (due_at, id) > (${after.dueAt}, ${after.id})`}
          and exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')
        order by due_at, id limit ${limit}`;
    },

    /** When the first schedule of these shards needs attention after a time. */
    nextDue(shards: readonly number[], afterMs: number): Fragment {
      return sql`
        select due_at from routing_schedules
        where due_at > ${new Date(afterMs)} and shard = any(${shards as number[]}::int[])
          and exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')
        order by due_at limit 1`;
    },

    /** The runs of a schedule without a final state, then those with an item that may be unfinished, oldest first. */
    async unsettled(tenantId: TenantId, scheduleId: string): Promise<UnsettledRun[]> {
      return sql<UnsettledRun[]>`
        select ${columns}, open, due_at from routing_schedule_runs
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and (open or due_at is not null)
        order by due_at is null, id limit ${unsettledMax}`;
    },

    /** Those of some items that are not finished, with their pools. */
    async unfinishedItems(tenantId: TenantId, ids: readonly string[]): Promise<UnfinishedItem[]> {
      if (ids.length === 0) return [];
      return sql<UnfinishedItem[]>`
        select id, pool_id from queue_items
        where tenant_id = ${tenantId} and id = any(${ids as string[]})
          and state in ('pending', 'held', 'ready', 'leased')`;
    },

    /**
     * Stores what was decided about the times that have come, before any item is routed: from here on, every node routes the
     * same items. Returns false if a caller changed the schedule, or if another node handled its times or owns its shard now.
     */
    async decide(decision: ScheduleDecision, current: Fragment, now: Date): Promise<boolean> {
      const { schedule, recorded, resumed, supersededRunIds, endedRunIds, nextAt, firesAt, error } = decision;
      const { tenantId, id, generation } = schedule;
      const moved = await sql`
        with current as (${current})
        update routing_schedules set next_at = ${nextAt}, fires_at = ${firesAt},
          last_error = coalesce(${error ?? null}, last_error)
        where tenant_id = ${tenantId} and id = ${id} and generation = ${generation}
          and next_at is not distinct from ${schedule.nextAt}::timestamptz and shard in (select shard from current)
        returning 1`;
      if (moved.length === 0) return false;
      await insertRuns(recorded, now);
      if (supersededRunIds.length > 0) {
        await sql`
          update routing_schedule_runs set state = 'skipped', request = null, due_at = null, ended_at = ${now}
          where tenant_id = ${tenantId} and schedule_id = ${id} and id = any(${supersededRunIds as string[]})
            and state = 'starting'`;
      }
      // A time that is skipped has no result at which old runs would be forgotten.
      const isSkipped = recorded.some(({ state }) => state === "skipped" || state === "missed");
      if (isSkipped || supersededRunIds.length > 0) await removeOldRuns(tenantId, id);
      if (resumed !== undefined) {
        await sql`
          update routing_schedule_runs set state = 'starting',
            request = ${resumed.request === null ? null : JSON.stringify(resumed.request)}::text::json,
            error_code = ${resumed.errorCode}, error_message = ${resumed.errorMessage}, created_at = ${now}
          where tenant_id = ${tenantId} and schedule_id = ${id} and id = ${resumed.id} and state = 'waiting'`;
      }
      if (endedRunIds.length > 0) {
        await sql`
          update routing_schedule_runs set open = false
          where tenant_id = ${tenantId} and schedule_id = ${id} and id = any(${endedRunIds as string[]})`;
      }
      await refreshDue(tenantId, id);
      return true;
    },

    /** Attempts a run again later. */
    async postpone(run: ScheduleRun, { errorCode, errorMessage }: Postponement, retryAt: Date): Promise<void> {
      const { tenantId, scheduleId, id } = run;
      await lockSchedule(tenantId, scheduleId);
      await sql`
        update routing_schedule_runs
        set due_at = ${retryAt}, error_code = ${errorCode}, error_message = ${errorMessage}
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and id = ${id} and state = 'starting'`;
      await refreshDue(tenantId, scheduleId);
    },

    /**
     * Stores the result of a run and forgets the oldest runs. Returns undefined if the run has a result or another node owns the
     * shard, and otherwise whether the schedule was paused because it failed too often.
     */
    async finish(schedule: DueSchedule, run: ScheduleRun, result: RunResult, current: Fragment, now: Date) {
      const { tenantId, id: scheduleId, shard, timing } = schedule;
      const isOpen = timing.overlap !== "allow" && result.itemId !== "";
      await lockSchedule(tenantId, scheduleId);
      const finished = await sql`
        with current as (${current})
        update routing_schedule_runs set state = ${result.state}, item_id = ${result.itemId},
          decision_id = ${result.decisionId}, outcome = ${result.outcome}, error_code = ${result.errorCode},
          error_message = ${result.errorMessage}, open = ${isOpen}, request = null, due_at = null, ended_at = ${now}
        where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and id = ${run.id} and state = 'starting'
          and exists (select from current where shard = ${shard})
        returning 1`;
      if (finished.length === 0) return undefined;
      await removeOldRuns(tenantId, scheduleId);
      const failures = result.permanent ? 1 : 0;
      const [row] = await sql<{ paused: boolean }[]>`
        update routing_schedules s set ${statusSql(result, now)}, due_at = ${dueSql(sql)}
        where tenant_id = ${tenantId} and id = ${scheduleId}
        returning not paused and generation = ${schedule.generation}
          and ${failures} > 0 and consecutive_failures >= ${failuresMax} as paused`;
      if (row?.paused === true) {
        await sql`
          update routing_schedules s set paused = true, paused_reason = 'failing', paused_by = '', next_at = null,
            fires_at = null, generation = generation + 1, updated_at = ${now}, record_version = record_version + 1
          where tenant_id = ${tenantId} and id = ${scheduleId}`;
        await refreshDue(tenantId, scheduleId);
      }
      return { paused: row?.paused ?? false };
    },
  };

  function statusSql({ state, itemId, errorMessage, permanent }: RunResult, now: Date): Fragment {
    if (state === "routed") {
      return sql`last_fired_at = ${now}, last_item_id = ${itemId}, last_error = '', consecutive_failures = 0`;
    }
    return sql`last_error = ${errorMessage}, consecutive_failures = consecutive_failures + ${permanent ? 1 : 0}::int`;
  }
}
