import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, joinSelected, type Sql } from "../../../../platform/db/index.ts";
import type { Capability } from "../domain/capabilities.ts";
import type { TaskQueue } from "../domain/task.ts";

export interface WorkerRef extends TaskQueue {
  readonly workerId: string;
}

/** A worker's report about itself, sent with its poll. */
export interface WorkerReport extends WorkerRef {
  readonly buildId: string;
  readonly protocol: number;
  readonly capabilities: readonly Capability[];
  /** How long its poll waits at most. */
  readonly waitMs: number;
}

/** A worker that was seen lately. */
export interface SeenWorker extends Omit<WorkerReport, "waitMs"> {
  readonly firstSeenAt: Date;
  readonly seenAt: Date;
}

/** How long a worker counts as present after a poll. Polls are recorded every few seconds only. */
const presentAfterPollMs = 15_000;
/** How long it counts as present after it reported on a task. */
const presentAfterReport = "1 minute";

/** Stores that workers polled. Rows are written in the order of their keys to avoid deadlocks. */
export async function upsertWorkers(sql: Sql, workers: readonly WorkerReport[]): Promise<void> {
  await sql`
    insert into workflow_workers
      (tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities, first_seen_at, seen_at,
        present_until)
    select tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities::json, now(), now(),
      now() + make_interval(secs => present_ms / 1000.0)
    from unnest(${workers.map(({ tenantId }) => tenantId)}::text[],
      ${workers.map(({ environmentId }) => environmentId)}::text[], ${workers.map(({ queue }) => queue)}::text[],
      ${workers.map(({ workerId }) => workerId)}::text[], ${workers.map(({ buildId }) => buildId)}::text[],
      ${workers.map(({ protocol }) => protocol)}::int[],
      ${workers.map(({ capabilities }) => JSON.stringify(capabilities))}::text[],
      ${workers.map(({ waitMs }) => waitMs + presentAfterPollMs)}::int[])
      as w(tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities, present_ms)
    order by tenant_id, environment_id, queue, worker_id
    on conflict (tenant_id, environment_id, queue, worker_id) do update set build_id = excluded.build_id,
      protocol = excluded.protocol, capabilities = excluded.capabilities, seen_at = excluded.seen_at,
      present_until = excluded.present_until`;
}

/** Stores that workers are alive. Unknown workers are ignored. */
export async function touchWorkers(sql: Sql, workers: readonly WorkerRef[]): Promise<void> {
  await sql`
    with locked as materialized (${lockWorkers(sql, workers)})
    update workflow_workers w set seen_at = now(),
      present_until = greatest(present_until, now() + ${presentAfterReport}::interval)
    from locked l
    where (w.tenant_id, w.environment_id, w.queue, w.worker_id) = (l.tenant_id, l.environment_id, l.queue, l.worker_id)`;
}

/** Deletes workers that disconnected. */
export async function deleteWorkers(sql: Sql, workers: readonly WorkerRef[]): Promise<void> {
  await sql`
    with locked as materialized (${lockWorkers(sql, workers)})
    delete from workflow_workers w using locked l
    where (w.tenant_id, w.environment_id, w.queue, w.worker_id) = (l.tenant_id, l.environment_id, l.queue, l.worker_id)`;
}

/** Locks rows in the order of their keys to avoid deadlocks. */
function lockWorkers(sql: Sql, workers: readonly WorkerRef[]): Fragment {
  return sql`
    select tenant_id, environment_id, queue, worker_id from workflow_workers
    where (tenant_id, environment_id, queue, worker_id) in (
      select * from unnest(${workers.map(({ tenantId }) => tenantId)}::text[],
        ${workers.map(({ environmentId }) => environmentId)}::text[], ${workers.map(({ queue }) => queue)}::text[],
        ${workers.map(({ workerId }) => workerId)}::text[]))
    order by 1, 2, 3, 4 for update`;
}

/** Reads the workers of a tenant that are present, by queue. */
export async function readPresentWorkers(
  sql: Sql,
  tenantId: TenantId,
  condition: Fragment,
  limit: number,
): Promise<SeenWorker[]> {
  return sql<SeenWorker[]>`
    select tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities, first_seen_at, seen_at
    from workflow_workers
    where tenant_id = ${tenantId} and ${condition} and present_until > now()
    order by environment_id, queue, worker_id limit ${limit}`;
}

/** Deletes workers that were not seen for a day; returns their number. */
export async function deleteAbsentWorkers(sql: Sql, limit: number): Promise<number> {
  const key = ["tenant_id", "environment_id", "queue", "worker_id"];
  const absent = sql`
    from workflow_workers where seen_at < now() - interval '1 day' limit ${limit} for update skip locked`;
  return (await sql`delete from workflow_workers using ${joinSelected(sql, "workflow_workers", absent, key)}`).count;
}
