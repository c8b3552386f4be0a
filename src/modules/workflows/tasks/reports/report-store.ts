import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { TaskQueue } from "../domain/task.ts";

/** A task and the token of its lease. */
export interface LeaseRef {
  readonly tenantId: string;
  readonly id: string;
  readonly token: string;
}

/** A heartbeat of a task. */
export interface Heartbeat extends LeaseRef {
  /** JSON text; undefined leaves the stored details unchanged. */
  readonly detailsJson: string | undefined;
}

/** The result of a heartbeat, with the worker that sent it if the lease is held. */
export interface HeartbeatResult {
  readonly status: "ok" | "cancel" | "lost" | "paused";
  readonly leaseUntil: Date | null;
  readonly worker: (TaskQueue & { readonly workerId: string }) | undefined;
}

/** A task that was released, with its queue. */
export type ReleasedTask = TaskQueue & { readonly id: string; readonly token: string };

/** The most builds that a task remembers. */
const refusedByMax = 8;

/**
 * Extends leases and stores details; returns one result per heartbeat, in order. A lease that has ended is not extended,
 * even if no sweep has seen it, because a sweep may be about to end the attempt.
 */
export async function extendLeases(sql: Sql, heartbeats: readonly Heartbeat[]): Promise<HeartbeatResult[]> {
  const order = lockOrder(heartbeats);
  const sorted = order.map((nth) => heartbeats[nth]!);
  const rows = await sql<(HeartbeatResult & { environmentId: string | null; [column: string]: unknown })[]>`
    with input as materialized (
      select * from unnest(${order}::int[], ${sorted.map(({ tenantId }) => tenantId)}::text[],
        ${sorted.map(({ id }) => id)}::text[], ${sorted.map(({ token }) => token)}::text[],
        ${sorted.map(({ detailsJson }) => detailsJson ?? null)}::text[]) as input(nth, tenant_id, id, token, details)
    ), locked as materialized (
      select i.nth, i.token, i.details, t.* from input i cross join lateral (
        select t.tenant_id, t.id, t.run_id, t.state, t.lease_token, t.lease_until from workflow_tasks t
        where t.tenant_id = i.tenant_id and t.id = i.id limit 1 for update) t
    ), extended as (
      update workflow_tasks t set details = coalesce(l.details::json, t.details),
        lease_until = case when t.heartbeat_ms > 0
          then least(t.attempt_until, now() + t.heartbeat_ms * interval '1 millisecond') else t.lease_until end
      from locked l
      where t.tenant_id = l.tenant_id and t.id = l.id
        and l.state = 'leased' and l.lease_token = l.token and l.lease_until > now()
      returning t.tenant_id, t.id, t.lease_token, t.lease_until, t.environment_id, t.queue, t.worker_id
    )
    select i.tenant_id, e.environment_id, e.queue, e.worker_id, e.lease_until,
      case when l.id is null then 'cancel'
        when e.id is null and not (l.state = 'held' and l.lease_token = i.token) then 'lost'
        when l.state = 'held' or 'paused' = (
          select r.status from workflow_runs r where r.tenant_id = l.tenant_id and r.id = l.run_id) then 'paused'
        else 'ok' end as status
    from input i
    left join locked l on l.nth = i.nth
    left join extended e on e.tenant_id = i.tenant_id and e.id = i.id and e.lease_token = i.token
    order by i.nth`;
  return rows.map(({ status, leaseUntil, environmentId, tenantId, queue, workerId }) => ({
    status,
    leaseUntil,
    worker:
      environmentId === null
        ? undefined
        : { environmentId, tenantId: tenantId as string, queue: queue as string, workerId: workerId as string },
  }));
}

/** Makes leased tasks ready again without counting the attempt; returns those whose lease was held. */
export async function releaseLeases(sql: Sql, leases: readonly LeaseRef[]): Promise<ReleasedTask[]> {
  return sql<ReleasedTask[]>`
    with ${lockLeases(sql, leases)}
    update workflow_tasks t set ${endLease(sql)},
      state = case when t.refused_by = '{}' then 'ready' else 'incompatible' end
    from locked l where t.tenant_id = l.tenant_id and t.id = l.id
    returning t.tenant_id, t.environment_id, t.queue, t.id, l.lease_token as token`;
}

/** Records that the workers' builds cannot run tasks; returns those whose lease was held. */
export async function refuseTasks(sql: Sql, leases: readonly LeaseRef[]): Promise<ReleasedTask[]> {
  return sql<ReleasedTask[]>`
    with ${lockLeases(sql, leases)}
    update workflow_tasks t set ${endLease(sql)}, state = 'incompatible',
      -- The new build is always among the remembered ones.
      refused_by = array(
        select each from (
          select t.build_id as each
          union all
          (select known from unnest(t.refused_by) as known where known <> t.build_id limit ${refusedByMax - 1})
        ) builds order by each)
    from locked l where t.tenant_id = l.tenant_id and t.id = l.id
    returning t.tenant_id, t.environment_id, t.queue, t.id, l.lease_token as token`;
}

/** The tasks whose lease is held, locked. They are looked up one by one, so that no plan reads all leased tasks. */
function lockLeases(sql: Sql, leases: readonly LeaseRef[]) {
  const sorted = lockOrder(leases).map((nth) => leases[nth]!);
  return sql`
    locked as materialized (
      select t.* from unnest(${sorted.map(({ tenantId }) => tenantId)}::text[], ${sorted.map(({ id }) => id)}::text[],
        ${sorted.map(({ token }) => token)}::text[]) as input(tenant_id, id, token)
      cross join lateral (
        select t.tenant_id, t.id, t.state, t.lease_token from workflow_tasks t
        where t.tenant_id = input.tenant_id and t.id = input.id limit 1 for update) t
      where t.state = 'leased' and t.lease_token = input.token
    )`;
}

/** The positions of leases in the order in which all statements lock tasks, to avoid deadlocks. */
function lockOrder(leases: readonly LeaseRef[]): number[] {
  const keys = leases.map(({ tenantId, id }) => `${tenantId}/${id}`);
  return keys.map((_, nth) => nth).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
}

function endLease(sql: Sql) {
  return sql`lease_token = '', worker_id = '', build_id = '', leased_at = null, lease_until = null, attempt_until = null`;
}

/** Whether a task is stored with this lease. */
export async function isLeaseStored(sql: Sql, { tenantId, id, token }: LeaseRef): Promise<boolean> {
  const rows = await sql`
    select from workflow_tasks
    where tenant_id = ${tenantId} and id = ${id} and state = 'leased' and lease_token = ${token}`;
  return rows.length > 0;
}

/** Finds the runs of tasks. */
export async function findRuns(
  sql: Sql,
  tenantId: TenantId,
  ids: readonly string[],
): Promise<{ id: string; runId: string }[]> {
  return sql`select id, run_id from workflow_tasks where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
}
