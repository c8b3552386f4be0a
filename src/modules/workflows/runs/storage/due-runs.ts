import { type Backlog, type Fragment, isServed, type Sql } from "../../../../platform/db/index.ts";

/** A run that needs attention. */
export interface DueRun {
  readonly tenantId: string;
  readonly id: string;
  readonly shard: number;
}

/** The runs of shards that need attention now, the most overdue first. */
export async function findDueRuns(
  sql: Sql,
  shards: readonly number[],
  nowMs: number,
  limit: number,
): Promise<DueRun[]> {
  return sql<DueRun[]>`
    select tenant_id, id, shard from workflow_runs
    where wake_at <= ${new Date(nowMs)} and shard = any(${shards as number[]}::int[]) and ${isServed(sql, sql`tenant_id`)}
    order by wake_at limit ${limit}`;
}

/** Runs that need attention and have not got it yet. */
export const overdueRuns: Backlog = {
  name: "workflow_runs",
  rows: (sql) => sql`select wake_at, id from workflow_runs where wake_at <= now()`,
};

/** When the next run of shards needs attention. */
export function nextWake(sql: Sql, shards: readonly number[]): Fragment {
  return sql`select min(wake_at) as wake_at from workflow_runs where shard = any(${shards as number[]}::int[])`;
}
