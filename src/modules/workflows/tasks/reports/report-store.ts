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
 * even if no sweep has seen it, because a sweep may be about to end the attempt. Rows are locked in the order of their
 * keys to avoid deadlocks.
 */
export async function extendLeases(sql: Sql, heartbeats: readonly Heartbeat[]): Promise<HeartbeatResult[]> {
  const rows = await sql<(HeartbeatResult & { environmentId: string | null; [column: string]: unknown })[]>`
    with input as (
      select * from unnest(${heartbeats.map(({ tenantId }) => tenantId)}::text[],
        ${heartbeats.map(({ id }) => id)}::text[], ${heartbeats.map(({ token }) => token)}::text[],
        ${heartbeats.map(({ detailsJson }) => detailsJson ?? null)}::text[])
        with ordinality as input(tenant_id, id, token, details, nth)
    ), locked as materialized (
      select t.tenant_id, t.id, t.run_id, t.state, t.lease_token, t.lease_until from workflow_tasks t
      where (t.tenant_id, t.id) in (select tenant_id, id from input)
      order by t.tenant_id, t.id for update
    ), extended as (
      update workflow_tasks t set details = coalesce(i.details::json, t.details),
        lease_until = case when t.heartbeat_ms > 0
          then least(t.attempt_until, now() + t.heartbeat_ms * interval '1 millisecond') else t.lease_until end
      from input i join locked l on l.tenant_id = i.tenant_id and l.id = i.id
      where t.tenant_id = l.tenant_id and t.id = l.id
        and l.state = 'leased' and l.lease_token = i.token and l.lease_until > now()
      returning t.tenant_id, t.id, t.lease_token, t.lease_until, t.environment_id, t.queue, t.worker_id
    )
    select i.tenant_id, e.environment_id, e.queue, e.worker_id, e.lease_until,
      case when e.id is not null then case when r.status = 'paused' then 'paused' else 'ok' end
        when l.id is null then 'cancel'
        when l.state = 'held' and l.lease_token = i.token then 'paused'
        else 'lost' end as status
    from input i
    left join locked l on l.tenant_id = i.tenant_id and l.id = i.id
    left join extended e on e.tenant_id = i.tenant_id and e.id = i.id and e.lease_token = i.token
    left join workflow_runs r on r.tenant_id = l.tenant_id and r.id = l.run_id
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

/** The tasks whose lease is held, locked in the order of their keys. */
function lockLeases(sql: Sql, leases: readonly LeaseRef[]) {
  return sql`
    locked as materialized (
      select t.tenant_id, t.id, t.lease_token from workflow_tasks t
      where t.state = 'leased' and (t.tenant_id, t.id, t.lease_token) in (
        select * from unnest(${leases.map(({ tenantId }) => tenantId)}::text[],
          ${leases.map(({ id }) => id)}::text[], ${leases.map(({ token }) => token)}::text[]))
      order by t.tenant_id, t.id for update
    )`;
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
