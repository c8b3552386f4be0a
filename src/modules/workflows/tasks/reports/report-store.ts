import { setTimeout as delay } from "node:timers/promises";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, hasKey, type Sql } from "../../../../platform/db/index.ts";
import { type TaskQueue, taskKey } from "../domain/task.ts";

/** A task and the token of its lease. */
export interface LeaseRef {
  readonly tenantId: string;
  readonly id: string;
  readonly token: string;
}

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

/** A lease that was ended, with the queue of its task. */
export type EndedLease = LeaseRef & TaskQueue;

/** The most builds that a task remembers. */
const refusedByMax = 8;
/** Pauses before locked tasks are tried again. The statements that lock tasks take milliseconds. */
const lockRetryMs = [2, 5, 20, 50, 200, 500, 1000];

/**
 * Extends leases and stores details; returns one result per heartbeat, in order. A lease that has ended is not extended,
 * even if no sweep has seen it, because a sweep may be about to end the attempt. A locked task is left alone: its lease is
 * being extended or ended at the moment.
 */
export async function extendLeases(sql: Sql, heartbeats: readonly Heartbeat[]): Promise<HeartbeatResult[]> {
  const rows = await sql<(HeartbeatResult & { environmentId: string | null; [column: string]: unknown })[]>`
    with input as materialized (
      select * from unnest(${heartbeats.map(({ tenantId }) => tenantId)}::text[],
        ${heartbeats.map(({ id }) => id)}::text[], ${heartbeats.map(({ token }) => token)}::text[],
        ${heartbeats.map(({ detailsJson }) => detailsJson ?? null)}::text[])
        with ordinality as input(tenant_id, id, token, details, nth)
    ), locked as materialized (
      select i.token, i.details, t.* from input i cross join lateral (
        select t.tenant_id, t.id, t.run_id, t.state, t.lease_token, t.lease_until from workflow_tasks t
        where t.tenant_id = i.tenant_id and t.id = i.id limit 1 for update skip locked) t
    ), extended as (
      update workflow_tasks t set details = coalesce(l.details::json, t.details),
        lease_until = case when t.heartbeat_ms > 0
          then least(t.attempt_until, now() + t.heartbeat_ms * interval '1 millisecond') else t.lease_until end
      from locked l
      where ${hasKey(sql, "t", "l", taskKey)}
        and l.state = 'leased' and l.lease_token = l.token and l.lease_until > now()
      returning t.tenant_id, t.id, t.lease_token, t.lease_until, t.environment_id, t.queue, t.worker_id
    )
    select i.tenant_id, e.environment_id, e.queue, e.worker_id, s.status,
      case when s.status in ('ok', 'paused') and t.state = 'leased'
        then coalesce(e.lease_until, t.lease_until) end as lease_until
    from input i
    left join lateral (
      select t.* from workflow_tasks t where t.tenant_id = i.tenant_id and t.id = i.id limit 1) t on true
    left join locked l on l.tenant_id = i.tenant_id and l.id = i.id and l.token = i.token
    left join extended e on e.tenant_id = i.tenant_id and e.id = i.id and e.lease_token = i.token
    cross join lateral (
      select case
        when t.id is null then 'cancel'
        when e.id is null and t.lease_token <> i.token then 'lost'
        when t.state = 'held' then 'paused'
        when e.id is null and (l.id is not null or t.state <> 'leased' or t.lease_until <= now()) then 'lost'
        when 'paused' = (
          select r.status from workflow_runs r where r.tenant_id = t.tenant_id and r.id = t.run_id) then 'paused'
        else 'ok' end as status) s
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
export function releaseLeases(sql: Sql, leases: readonly LeaseRef[]): Promise<EndedLease[]> {
  return endLeases(sql, leases, sql`state = case when t.refused_by = '{}' then 'ready' else 'incompatible' end`);
}

/** Records that the workers' builds cannot run tasks; returns those whose lease was held. */
export function refuseTasks(sql: Sql, leases: readonly LeaseRef[]): Promise<EndedLease[]> {
  const change = sql`
    state = 'incompatible',
      -- The new build is always among the remembered ones.
      refused_by = array(
        select each from (
          select t.build_id as each
          union all
          (select known from unnest(t.refused_by) as known where known <> t.build_id limit ${refusedByMax - 1})
        ) builds order by each)`;
  return endLeases(sql, leases, change);
}

/**
 * Ends leases; returns those that were held. It never waits for a lock while it holds others, because the statements of
 * runs lock tasks in another order. Locked tasks are tried again.
 */
async function endLeases(sql: Sql, leases: readonly LeaseRef[], change: Fragment): Promise<EndedLease[]> {
  const ended: EndedLease[] = [];
  let remaining = leases;
  for (const pauseMs of [...lockRetryMs, undefined]) {
    const rows = await tryEndLeases(sql, remaining, change);
    ended.push(...rows.filter(({ isLocked }) => !isLocked));
    remaining = rows.filter(({ isLocked }) => isLocked);
    if (remaining.length === 0) break;
    if (pauseMs === undefined) throw fail("UNAVAILABLE", { public: "The task is locked at the moment. Try again." });
    await delay(pauseMs);
  }
  return ended;
}

/** Ends leases that are not locked. Leases that are not held are left out. */
async function tryEndLeases(
  sql: Sql,
  leases: readonly LeaseRef[],
  change: Fragment,
): Promise<(EndedLease & { isLocked: boolean })[]> {
  return sql`
    with input as materialized (
      select * from unnest(${leases.map(({ tenantId }) => tenantId)}::text[], ${leases.map(({ id }) => id)}::text[],
        ${leases.map(({ token }) => token)}::text[]) as input(tenant_id, id, token)
    ), locked as materialized (
      select t.* from input i cross join lateral (
        select t.tenant_id, t.id, t.run_id, t.state, t.lease_token from workflow_tasks t
        where t.tenant_id = i.tenant_id and t.id = i.id limit 1 for update skip locked) t
      where t.state = 'leased' and t.lease_token = i.token
    ), ended as (
      update workflow_tasks t set lease_token = '', worker_id = '', build_id = '', leased_at = null, lease_until = null,
        attempt_until = null, ${change}
      from locked l where ${hasKey(sql, "t", "l", taskKey)}
      returning t.tenant_id, t.id
    )
    select t.tenant_id, t.environment_id, t.queue, t.id, t.lease_token as token, e.id is null as is_locked
    from input i
    cross join lateral (
      select t.* from workflow_tasks t where t.tenant_id = i.tenant_id and t.id = i.id limit 1) t
    left join ended e on e.tenant_id = t.tenant_id and e.id = t.id
    where t.state = 'leased' and t.lease_token = i.token`;
}

/** Whether a task is stored with this lease. */
export async function isLeaseStored(sql: Sql, { tenantId, id, token }: LeaseRef): Promise<boolean> {
  const rows = await sql`
    select from workflow_tasks
    where tenant_id = ${tenantId} and id = ${id} and state = 'leased' and lease_token = ${token}`;
  return rows.length > 0;
}

export async function findRuns(
  sql: Sql,
  tenantId: TenantId,
  ids: readonly string[],
): Promise<{ id: string; runId: string }[]> {
  return sql`select id, run_id from workflow_tasks where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
}
