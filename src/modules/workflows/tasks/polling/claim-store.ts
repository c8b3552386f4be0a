import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { leaseBytesMax, selectWithinBytes } from "../../../../platform/paging/index.ts";
import type { LeasedTask, TaskKind, TaskQueue } from "../domain/task.ts";

/** The places that leased tasks go to: one entry for each task that may be leased. */
export interface Slots {
  readonly workerIds: readonly string[];
  /** The part of each lease token after the run id. */
  readonly tokenSuffixes: readonly string[];
}

/** A leased task, with the position of its slot. */
export type ClaimedTask = LeasedTask & { readonly slot: number };

/** A kind of which a queue has tasks that can be leased, now or later. */
export interface QueuedKind extends TaskKind {
  /** Milliseconds until the first task is ready; not positive if it is ready. */
  readonly dueInMs: number;
}

/** Candidates that are read beyond the wanted number, in case other statements have locked some of them. */
const spareCandidates = 20;
const kindsMax = 1000;

/** Leases the oldest unlocked tasks of these kinds. Large ones are fewer: the rest stays ready. */
export async function leaseTasks(
  sql: Sql,
  queue: TaskQueue,
  buildId: string,
  kinds: readonly TaskKind[],
  slots: Slots,
): Promise<ClaimedTask[]> {
  const count = slots.workerIds.length;
  const [only] = kinds;
  const picked =
    kinds.length === 1
      ? sql`
        select t.ctid as place, t.id, t.ready_at, ${taskBytes(sql)} as bytes from workflow_tasks t
        where ${isQueued(sql, queue)} and t.type = ${only!.type} and t.version_range = ${only!.versionRange}
          and t.refused_by = ${only!.refusedBy as string[]}::text[] and t.ready_at <= now()
        order by t.ready_at, t.id limit ${count} for update skip locked`
      : // Only the oldest of all kinds are locked, and their state is checked again.
        sql`
        select t.ctid as place, t.id, c.ready_at, ${taskBytes(sql)} as bytes from (
          select c.* from ${kindRows(sql, kinds)} cross join lateral (
            select t.ctid as place, t.id, t.ready_at from workflow_tasks t
            where ${isQueued(sql, queue)} and t.type = k.type and t.version_range = k.version_range
              and t.refused_by = k.refused_by::text[] and t.ready_at <= now()
            order by t.ready_at, t.id limit ${count + spareCandidates}) c
          order by c.ready_at, c.id limit ${count + spareCandidates}
        ) c join workflow_tasks t on t.ctid = c.place
        where t.state not in ('leased', 'held')
        order by c.ready_at, c.id limit ${count} for update of t skip locked`;
  return sql<ClaimedTask[]>`
    with picked as (${selectWithinBytes(sql, picked, sql`ready_at, id`, bytesMaxOf(slots))}), slotted as (select place, row_number() over () as slot from picked)
    ${leaseSlotted(sql, buildId, slots)}`;
}

/** A worker's preferred run, and the range of the worker's slots. */
export interface PreferredRun {
  readonly runId: string;
  readonly firstSlot: number;
  readonly slotCount: number;
}

/** Leases unlocked tasks of these kinds that belong to the preferred runs of workers. */
export async function leasePreferredTasks(
  sql: Sql,
  queue: TaskQueue,
  buildId: string,
  kinds: readonly TaskKind[],
  runs: readonly PreferredRun[],
  slots: Slots,
): Promise<ClaimedTask[]> {
  return sql<ClaimedTask[]>`
    with found as (
      select t.*, r.first_slot, r.slot_count from unnest(${runs.map(({ runId }) => runId)}::text[],
        ${runs.map(({ firstSlot }) => firstSlot)}::int[], ${runs.map(({ slotCount }) => slotCount)}::int[])
        as r(run_id, first_slot, slot_count)
      cross join lateral (
        select t.ctid as place, t.id, t.ready_at, ${taskBytes(sql)} as bytes from workflow_tasks t
        where t.tenant_id = ${queue.tenantId} and t.run_id = r.run_id and t.environment_id = ${queue.environmentId}
          -- In a form that does not match the index of all waiting tasks, so that the plan reads the tasks of the run.
          and t.queue = ${queue.queue} and t.state not in ('leased', 'held') and t.ready_at <= now()
          and (t.type, t.version_range, t.refused_by) in (
            select k.type, k.version_range, k.refused_by::text[] from ${kindRows(sql, kinds)})
        order by t.ready_at, t.id limit r.slot_count for update skip locked) t
    ), chosen as (
      -- Several workers may prefer the same run.
      select distinct on (id) * from found order by id, first_slot
    ), placed as (
      select *, row_number() over (partition by first_slot order by ready_at, id) as nth from chosen
    ), slotted as (
      ${selectWithinBytes(
        sql,
        sql`select place, bytes, nth, first_slot + nth as slot from placed where nth <= slot_count`,
        sql`nth, slot`,
        bytesMaxOf(slots),
      )}
    )
    ${leaseSlotted(sql, buildId, slots)}`;
}

/** Reads the kinds of a queue's tasks that wait. It reads one index entry for each kind. */
export async function readQueuedKinds(sql: Sql, queue: TaskQueue): Promise<QueuedKind[]> {
  const columns = sql`t.type, t.version_range, t.refused_by, t.ready_at`;
  return sql<QueuedKind[]>`
    with recursive kinds as (
      (select ${columns} from workflow_tasks t where ${isQueued(sql, queue)}
        order by t.type, t.version_range, t.refused_by, t.ready_at limit 1)
      union all
      select following.* from kinds k cross join lateral (
        select ${columns} from workflow_tasks t where ${isQueued(sql, queue)}
          and (t.type, t.version_range, t.refused_by) > (k.type, k.version_range, k.refused_by)
        order by t.type, t.version_range, t.refused_by, t.ready_at limit 1) following
    )
    select type, version_range, refused_by,
      ceil(extract(epoch from ready_at - now()) * 1000)::float8 as due_in_ms from kinds limit ${kindsMax}`;
}

function isQueued(sql: Sql, { tenantId, environmentId, queue }: TaskQueue): Fragment {
  return sql`
    t.tenant_id = ${tenantId} and t.environment_id = ${environmentId} and t.queue = ${queue}
      and t.state in ('ready', 'incompatible')`;
}

function kindRows(sql: Sql, kinds: readonly TaskKind[]): Fragment {
  return sql`
    unnest(${kinds.map(({ type }) => type)}::text[], ${kinds.map(({ versionRange }) => versionRange)}::text[],
      ${kinds.map(({ refusedBy }) => arrayText(refusedBy))}::text[]) as k(type, version_range, refused_by)`;
}

/** PostgreSQL's text of an array: an array of arrays of different lengths cannot be a parameter. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`).join()}}`;
}

/** The input of a task takes at most this much, as JSON. */
const taskBytesMax = 256 * 1024;

/** The bytes of the tasks that one statement leases, so that each worker may get a task of any size. */
function bytesMaxOf({ workerIds }: Slots): number {
  return leaseBytesMax + new Set(workerIds).size * taskBytesMax;
}

function taskBytes(sql: Sql): Fragment {
  return sql`coalesce(octet_length(t.input::text), 0) + coalesce(octet_length(t.details::text), 0)`;
}

/**
 * Leases the locked tasks of `slotted` by their places; one that has just been changed is left out. Leases use the database's
 * clock, so that all nodes agree on their end.
 */
function leaseSlotted(sql: Sql, buildId: string, { workerIds, tokenSuffixes }: Slots): Fragment {
  return sql`
    update workflow_tasks t set state = 'leased', build_id = ${buildId},
      worker_id = (${workerIds as string[]}::text[])[s.slot],
      lease_token = t.run_id || (${tokenSuffixes as string[]}::text[])[s.slot],
      leased_at = now(), attempt_until = now() + t.attempt_ms * interval '1 millisecond',
      lease_until = now() + interval '1 millisecond'
        * case when t.heartbeat_ms > 0 then least(t.heartbeat_ms, t.attempt_ms) else t.attempt_ms end
    from slotted s where t.ctid = s.place
    returning ${leasedColumns(sql)}, (s.slot - 1)::int as slot`;
}

function leasedColumns(sql: Sql): Fragment {
  return sql`
    t.tenant_id, t.environment_id, t.queue, t.id, t.run_id, t.step_key, t.type, t.version_range, t.attempt,
      t.lease_token as token, t.input, t.details, t.heartbeat_ms, t.lease_until, t.attempt_until`;
}
