import type { Sql } from "../../../../platform/db/index.ts";

/** What is known about a task in progress. */
export interface TaskFacts {
  readonly id: string;
  readonly state: "ready" | "leased" | "incompatible" | "held";
  readonly queue: string;
  readonly type: string;
  readonly versionRange: string;
  readonly attempt: number;
  readonly workerId: string;
  /** Whether it waits for its next attempt. */
  readonly isLater: boolean;
  /** Whether a worker has polled its queue in the last minute. */
  readonly hasWorker: boolean;
}

const tasksMax = 100;

/** Reads tasks by id. */
export async function findTaskFacts(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TaskFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<TaskFacts[]>`
    select t.id, t.state, t.queue, t.type, t.version_range, t.attempt, t.worker_id, t.ready_at > now() as is_later,
      exists (
        select from workflow_workers w where w.tenant_id = t.tenant_id and w.environment_id = t.environment_id
          and w.queue = t.queue and w.seen_at > now() - interval '1 minute'
      ) as has_worker
    from workflow_tasks t where t.tenant_id = ${tenantId} and t.id = any(${ids.slice(0, tasksMax)})`;
  return new Map(rows.map((row) => [row.id, row]));
}
