import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { Capability } from "../domain/capabilities.ts";
import type { TaskQueue } from "../domain/task.ts";

/** A worker of a queue. */
export interface WorkerRef extends TaskQueue {
  readonly workerId: string;
}

/** What a worker tells about itself when it polls. */
export interface WorkerReport extends WorkerRef {
  readonly buildId: string;
  readonly protocol: number;
  readonly capabilities: readonly Capability[];
}

/** A worker that was seen lately. */
export interface SeenWorker extends WorkerReport {
  readonly firstSeenAt: Date;
  readonly seenAt: Date;
}

/** How long a worker counts as present. It is longer than the longest wait of a poll. */
const presentS = 60;

/** Stores that workers polled. Rows are written in the order of their keys to avoid deadlocks. */
export async function upsertWorkers(sql: Sql, workers: readonly WorkerReport[]): Promise<void> {
  await sql`
    insert into workflow_workers
      (tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities, first_seen_at, seen_at)
    select tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities::json, now(), now()
    from unnest(${workers.map(({ tenantId }) => tenantId)}::text[],
      ${workers.map(({ environmentId }) => environmentId)}::text[], ${workers.map(({ queue }) => queue)}::text[],
      ${workers.map(({ workerId }) => workerId)}::text[], ${workers.map(({ buildId }) => buildId)}::text[],
      ${workers.map(({ protocol }) => protocol)}::int[],
      ${workers.map(({ capabilities }) => JSON.stringify(capabilities))}::text[])
      as w(tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities)
    order by tenant_id, environment_id, queue, worker_id
    on conflict (tenant_id, environment_id, queue, worker_id) do update set build_id = excluded.build_id,
      protocol = excluded.protocol, capabilities = excluded.capabilities, seen_at = excluded.seen_at`;
}

/** Stores that workers are alive. Unknown workers are ignored. */
export async function touchWorkers(sql: Sql, workers: readonly WorkerRef[]): Promise<void> {
  await sql`
    with locked as materialized (
      select tenant_id, environment_id, queue, worker_id from workflow_workers
      where (tenant_id, environment_id, queue, worker_id) in (
        select * from unnest(${workers.map(({ tenantId }) => tenantId)}::text[],
          ${workers.map(({ environmentId }) => environmentId)}::text[], ${workers.map(({ queue }) => queue)}::text[],
          ${workers.map(({ workerId }) => workerId)}::text[]))
      order by 1, 2, 3, 4 for update
    )
    update workflow_workers w set seen_at = now() from locked l
    where (w.tenant_id, w.environment_id, w.queue, w.worker_id) = (l.tenant_id, l.environment_id, l.queue, l.worker_id)`;
}

/** Reads the workers of a tenant that were seen in the last minute, by queue. */
export async function readPresentWorkers(
  sql: Sql,
  tenantId: TenantId,
  condition: Fragment,
  limit: number,
): Promise<SeenWorker[]> {
  return sql<SeenWorker[]>`
    select tenant_id, environment_id, queue, worker_id, build_id, protocol, capabilities, first_seen_at, seen_at
    from workflow_workers
    where tenant_id = ${tenantId} and ${condition} and seen_at > now() - make_interval(secs => ${presentS})
    order by environment_id, queue, worker_id limit ${limit}`;
}

/** Deletes workers that were not seen for a day; returns their number. */
export async function deleteAbsentWorkers(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from workflow_workers where ctid = any(array(
      select ctid from workflow_workers where seen_at < now() - interval '1 day' limit ${limit} for update skip locked))`;
  return deleted.count;
}
