import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Json, TaskKind, TaskQueue, TaskState } from "../domain/task.ts";

/** A stored task, without its input. */
export interface StoredTask extends TaskQueue, TaskKind {
  readonly id: string;
  readonly runId: string;
  readonly stepKey: string;
  readonly state: TaskState;
  readonly attempt: number;
  readonly readyAt: Date;
  readonly isDue: boolean;
  readonly workerId: string;
  readonly buildId: string;
  readonly leasedAt: Date | null;
  readonly leaseUntil: Date | null;
  readonly attemptUntil: Date | null;
  readonly createdAt: Date;
}

export interface StoredTaskInput extends StoredTask {
  readonly environmentKey: string;
  readonly input: Json;
  readonly details: Json;
}

/** The queues that a caller wants to see. */
export interface QueueFilter {
  readonly environmentMode: EnvironmentMode;
  /** Empty for all that the mode allows. */
  readonly environmentId: string;
  /** Empty for all. */
  readonly queue: string;
}

/** Selects tasks. */
export interface TaskFilter extends QueueFilter {
  /** Empty for all runs. */
  readonly runId: string;
  readonly state: TaskState | "";
}

/** The kinds of tasks whose shown state differs from the stored one: workers can run them, or no worker can. */
export interface ShownKinds {
  readonly ready: readonly (TaskQueue & TaskKind)[];
  readonly incompatible: readonly (TaskQueue & TaskKind)[];
}

export interface WaitingKind extends TaskQueue, TaskKind {
  /** Milliseconds until the first task is ready; not positive if it is ready. */
  readonly dueInMs: number;
  /** The stored state of the first task. */
  readonly state: TaskState;
}

/** The number of waiting tasks of a kind in a queue. */
export interface KindCount extends TaskQueue, TaskKind {
  readonly state: TaskState;
  readonly count: number;
}

const kindsMax = 1000;
const queuesMax = 1000;
const leasedScanMax = 10_000;

/** The most waiting tasks of a queue that are counted. */
export const waitingCountMax = 10_000;

/** Condition on environment_id and queue. */
export function inQueues(
  sql: Sql,
  tenantId: TenantId,
  { environmentMode, environmentId, queue }: QueueFilter,
): Fragment {
  const production = sql`(select e.id from environments e where e.tenant_id = ${tenantId} and e.key = 'production')`;
  const allowed = {
    any: sql`true`,
    production_only: sql`environment_id in ${production}`,
    non_production_only: sql`environment_id not in ${production}`,
  }[environmentMode];
  return sql`
    ${allowed} ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
      ${queue === "" ? sql`` : sql`and queue = ${queue}`}`;
}

/** Reads a page of tasks by id. */
export async function listTasks(
  sql: Sql,
  tenantId: TenantId,
  filter: TaskFilter,
  shown: ShownKinds,
  page: Page,
): Promise<PageRows<StoredTask>> {
  const where = sql`
    tenant_id = ${tenantId} ${filter.runId === "" ? sql`` : sql`and run_id = ${filter.runId}`}`;
  const conditions = sql`
    ${inQueues(sql, tenantId, filter)} ${filter.state === "" ? sql`` : sql`and ${isShownAs(sql, filter.state, shown)}`}`;
  return readKeyset<StoredTask>(
    sql,
    { columns: taskColumns(sql), table: "workflow_tasks", where, filter: conditions },
    page,
  );
}

function isShownAs(sql: Sql, state: TaskState, { ready, incompatible }: ShownKinds): Fragment {
  if (state !== "ready" && state !== "incompatible") return sql`state = ${state}`;
  const [same, other] = state === "ready" ? [ready, incompatible] : [incompatible, ready];
  return sql`
    state in ('ready', 'incompatible') and (${isOneOf(sql, same)} or (state = ${state} and not ${isOneOf(sql, other)}))`;
}

function isOneOf(sql: Sql, kinds: readonly (TaskQueue & TaskKind)[]): Fragment {
  if (kinds.length === 0) return sql`false`;
  return sql`
    (environment_id, queue, type, version_range, to_json(refused_by)::text) in (
      select environment_id, queue, type, version_range, refused_by from unnest(
        ${kinds.map(({ environmentId }) => environmentId)}::text[], ${kinds.map(({ queue }) => queue)}::text[],
        ${kinds.map(({ type }) => type)}::text[], ${kinds.map(({ versionRange }) => versionRange)}::text[],
        ${kinds.map(({ refusedBy }) => JSON.stringify(refusedBy))}::text[])
        as k(environment_id, queue, type, version_range, refused_by))`;
}

/** Finds a task with the key of its environment. */
export function findTask(sql: Sql, tenantId: TenantId, id: string): Promise<StoredTaskInput | undefined> {
  return sql<StoredTaskInput[]>`
    select ${taskColumns(sql)}, input, details,
      (select e.key from environments e where e.tenant_id = workflow_tasks.tenant_id
        and e.id = workflow_tasks.environment_id) as environment_key
    from workflow_tasks where tenant_id = ${tenantId} and id = ${id}`.first();
}

function taskColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, environment_id, queue, id, run_id, step_key, type, version_range, refused_by, state, attempt, ready_at,
      ready_at <= now() as is_due, worker_id, build_id, leased_at, lease_until, attempt_until, created_at`;
}

/** Reads the queues with waiting tasks. It reads one index entry for each queue. */
export async function readWaitingQueues(
  sql: Sql,
  tenantId: TenantId,
  filter: QueueFilter,
): Promise<{ environmentId: string; queue: string }[]> {
  const isWaiting = sql`tenant_id = ${tenantId} and state in ('ready', 'incompatible')`;
  return sql`
    with recursive queues as (
      (select environment_id, queue from workflow_tasks where ${isWaiting} order by environment_id, queue limit 1)
      union all
      select following.* from queues q cross join lateral (
        select t.environment_id, t.queue from workflow_tasks t
        where ${isWaiting} and (t.environment_id, t.queue) > (q.environment_id, q.queue)
        order by t.environment_id, t.queue limit 1) following
    )
    select environment_id, queue from (select * from queues limit ${queuesMax}) queues
    where ${inQueues(sql, tenantId, filter)}`;
}

/** Counts the leased tasks of each queue among the tenant's oldest tasks. Leased tasks are the oldest of their queues. */
export async function countLeased(
  sql: Sql,
  tenantId: TenantId,
  filter: QueueFilter,
): Promise<{ environmentId: string; queue: string; leased: number; isCapped: boolean }[]> {
  return sql`
    select environment_id, queue, count(*)::int as leased, max(seen) > ${leasedScanMax} as is_capped from (
      select environment_id, queue, state, count(*) over () as seen from (
        select environment_id, queue, state from workflow_tasks where tenant_id = ${tenantId}
        order by id limit ${leasedScanMax + 1}) oldest
    ) counted where state = 'leased' and ${inQueues(sql, tenantId, filter)} group by 1, 2`;
}

/** Reads the kinds of waiting tasks in queues. It reads one index entry for each kind. */
export async function readWaitingKinds(
  sql: Sql,
  tenantId: TenantId,
  queues: readonly { environmentId: string; queue: string }[],
): Promise<WaitingKind[]> {
  if (queues.length === 0) return [];
  const columns = sql`t.type, t.version_range, t.refused_by, t.ready_at, t.state`;
  const order = sql`order by t.type, t.version_range, t.refused_by, t.ready_at limit 1`;
  return sql<WaitingKind[]>`
    select ${tenantId} as tenant_id, q.environment_id, q.queue, k.type, k.version_range, k.refused_by, k.state,
      (extract(epoch from k.ready_at - now()) * 1000)::float8 as due_in_ms
    from ${queueRows(sql, queues)} cross join lateral (
      with recursive kinds as (
        (select ${columns} from workflow_tasks t where ${isWaitingIn(sql, tenantId)} ${order})
        union all
        select following.* from kinds k cross join lateral (
          select ${columns} from workflow_tasks t where ${isWaitingIn(sql, tenantId)}
            and (t.type, t.version_range, t.refused_by) > (k.type, k.version_range, k.refused_by) ${order}) following
      ) select * from kinds limit ${kindsMax}
    ) k`;
}

/** Counts the waiting tasks of queues by kind. At most `waitingCountMax` tasks of each queue are counted. */
export async function countWaiting(
  sql: Sql,
  tenantId: TenantId,
  queues: readonly { environmentId: string; queue: string }[],
): Promise<KindCount[]> {
  if (queues.length === 0) return [];
  return sql<KindCount[]>`
    select ${tenantId} as tenant_id, q.environment_id, q.queue, t.type, t.version_range, t.refused_by, t.state,
      count(*)::int as count
    from ${queueRows(sql, queues)} cross join lateral (
      select t.type, t.version_range, t.refused_by, t.state from workflow_tasks t
      where ${isWaitingIn(sql, tenantId)} order by t.type, t.version_range, t.refused_by limit ${waitingCountMax}
    ) t group by 2, 3, 4, 5, 6, 7`;
}

function queueRows(sql: Sql, queues: readonly { environmentId: string; queue: string }[]): Fragment {
  return sql`
    unnest(${queues.map(({ environmentId }) => environmentId)}::text[], ${queues.map(({ queue }) => queue)}::text[])
      as q(environment_id, queue)`;
}

/** Condition: a task waits in the queue of the row `q`. */
function isWaitingIn(sql: Sql, tenantId: TenantId): Fragment {
  return sql`
    t.tenant_id = ${tenantId} and t.environment_id = q.environment_id and t.queue = q.queue
      and t.state in ('ready', 'incompatible')`;
}
