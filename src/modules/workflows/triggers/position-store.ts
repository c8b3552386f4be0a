import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import type { Position } from "../../operations/index.ts";
import type { Trigger } from "./domain/trigger.ts";
import type { StatusChange } from "./domain/trigger-outcome.ts";
import { type TriggerRow, toTrigger, triggerColumns } from "./trigger-store.ts";

/** A schedule that needs attention. */
export interface DueTrigger extends Trigger {
  readonly shard: number;
  readonly dueAt: Date;
  readonly queuedAt: Date | null;
  readonly openRunIds: readonly string[];
}

/** An enabled event trigger, and which of the given transactions came before it was enabled. */
export interface Subscriber extends Trigger {
  readonly earlierStamps: readonly string[];
}

/** The effect of firings on a trigger. */
export interface TriggerChange {
  readonly trigger: Trigger;
  readonly status: StatusChange;
}

/** The new position of a schedule, with its started and ended runs. */
export interface ScheduleChange extends TriggerChange {
  readonly trigger: DueTrigger;
  readonly nextAt: Date | null;
  readonly dueAt: Date | null;
  readonly queuedAt: Date | null;
  readonly startedRunIds: readonly string[];
  readonly endedRunIds: readonly string[];
}

/** The SQL queries of the workers that start runs. `current` selects the shards that the writing node owns. */
export function positionStore(sql: Sql) {
  return {
    /** Due schedules of these shards, in the order of their times, after one of them. */
    async findDue(
      shards: readonly number[],
      nowMs: number,
      after: Pick<DueTrigger, "dueAt" | "id"> | undefined,
      limit: number,
    ): Promise<DueTrigger[]> {
      const rows = await sql<(TriggerRow & Omit<DueTrigger, keyof Trigger>)[]>`
        select ${triggerColumns(sql)}, shard, due_at, queued_at, open_run_ids from workflow_triggers
        where enabled and due_at <= ${new Date(nowMs)} and shard = any(${shards as number[]}::int[])
          ${after === undefined ? sql`` : sql`and (due_at, id) > (${after.dueAt}, ${after.id})`}
          and exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')
        order by due_at, id limit ${limit}`;
      return rows.map(toTrigger);
    },

    /** When the first schedule of these shards needs attention after a time. */
    nextDue(shards: readonly number[], afterMs: number): Fragment {
      return sql`
        select due_at from workflow_triggers
        where enabled and due_at > ${new Date(afterMs)} and shard = any(${shards as number[]}::int[])
          and exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')
        order by due_at limit 1`;
    },

    /**
     * Stores the result of a schedule's firings and its next time. Returns false if another node has handled the same time, or
     * owns the shard now. The position of a schedule that a caller changed meanwhile stays as it is.
     */
    async finishSchedule(
      { trigger, status, nextAt, dueAt, queuedAt, startedRunIds, endedRunIds }: ScheduleChange,
      current: Fragment,
    ): Promise<boolean> {
      const isCurrent = sql`t.generation = ${trigger.generation}`;
      const rows = await sql`
        with current as (${current})
        update workflow_triggers t set
          next_at = case when ${isCurrent} then ${nextAt}::timestamptz else t.next_at end,
          due_at = case when ${isCurrent} then ${dueAt}::timestamptz else t.due_at end,
          queued_at = case when ${isCurrent} then ${queuedAt}::timestamptz else t.queued_at end,
          open_run_ids = array(select id from unnest(t.open_run_ids) id where id <> all(${endedRunIds as string[]}::text[]))
            || ${startedRunIds as string[]}::text[],
          ${setStatus(sql, trigger, status)}
        where tenant_id = ${trigger.tenantId} and id = ${trigger.id} and shard in (select shard from current)
          and (not ${isCurrent} or (t.next_at is not distinct from ${trigger.nextAt}::timestamptz
            and t.queued_at is not distinct from ${trigger.queuedAt}::timestamptz))
        returning 1`;
      return rows.length > 0;
    },

    /** The positions of up to `limit` tenants of these shards with enabled event triggers, after a tenant. */
    async positions(
      shards: readonly number[],
      after: string,
      limit: number,
    ): Promise<(Position & { tenantId: TenantId })[]> {
      return sql<(Position & { tenantId: TenantId })[]>`
        select tenant_id, stamp::text, id from workflow_trigger_cursors stored
        where tenant_id > ${after} and shard = any(${shards as number[]}::int[])
          and exists (select from tenants where tenants.id = stored.tenant_id and tenants.status = 'active')
          and exists (
            select from workflow_triggers t where t.tenant_id = stored.tenant_id and t.kind = 'event' and t.enabled)
        order by tenant_id limit ${limit}`;
    },

    findPosition: (tenantId: TenantId) =>
      sql<Position[]>`
        select stamp::text, id from workflow_trigger_cursors where tenant_id = ${tenantId}`.first(),

    /** The enabled event triggers of a tenant. */
    async subscribers(tenantId: TenantId, stamps: readonly string[]): Promise<Subscriber[]> {
      const rows = await sql<(TriggerRow & Pick<Subscriber, "earlierStamps">)[]>`
        with input as (select x::bigint as stamp from unnest(${stamps as string[]}::text[]) x)
        select ${triggerColumns(sql)},
          -- Most triggers are older than all events that are read, so the events are not compared one by one.
          case when greatest(txid_snapshot_xmax(since_snapshot::txid_snapshot), since_stamp) < (select min(stamp) from input)
            then '{}'::text[]
            else array(select stamp::text from input
              where stamp = since_stamp or txid_visible_in_snapshot(stamp, since_snapshot::txid_snapshot))
          end as earlier_stamps
        from workflow_triggers where tenant_id = ${tenantId} and kind = 'event' and enabled
        order by id`;
      return rows.map(toTrigger);
    },

    /** Moves the position of a tenant's log; returns false if another node has moved it, or owns the shard now. */
    async movePosition(tenantId: TenantId, from: Position, to: Position, current: Fragment): Promise<boolean> {
      const rows = await sql`
        with current as (${current})
        update workflow_trigger_cursors set stamp = ${to.stamp}::text::bigint, id = ${to.id}
        where tenant_id = ${tenantId} and stamp = ${from.stamp}::text::bigint and id = ${from.id}
          and shard in (select shard from current)
        returning 1`;
      return rows.length > 0;
    },

    /** Stores the result of an event trigger's firings. */
    async finishEvents({ trigger, status }: TriggerChange): Promise<void> {
      await sql`
        update workflow_triggers t set ${setStatus(sql, trigger, status)}
        where tenant_id = ${trigger.tenantId} and id = ${trigger.id}`;
    },
  };
}

/** Sets the status of a trigger `t`. A trigger that a caller changed meanwhile is not disabled. */
function setStatus(sql: Sql, { generation, ...earlier }: Trigger, status: StatusChange): Fragment {
  const { lastFiredAt, lastRunId, lastSkippedAt, lastError, consecutiveFailures, disable } = status;
  const isCurrent = sql`t.generation = ${generation}`;
  // Unchanged columns are left alone: a caller may have had the trigger start a run meanwhile.
  const isFired = lastFiredAt !== earlier.lastFiredAt;
  return sql`
    ${isFired ? sql`last_fired_at = ${lastFiredAt}, last_run_id = ${lastRunId},` : sql``}
    last_skipped_at = ${lastSkippedAt}, last_error = ${lastError},
    consecutive_failures = case when ${isCurrent} then ${consecutiveFailures}::int else t.consecutive_failures end
    ${
      disable
        ? sql`, enabled = t.enabled and not ${isCurrent}, generation = t.generation + 1,
            disabled_reason = case when t.enabled and ${isCurrent} then 'failing' else t.disabled_reason end,
            record_version = t.record_version + 1, updated_at = now()`
        : sql``
    }`;
}
