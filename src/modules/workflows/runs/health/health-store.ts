import type { Sql } from "../../../../platform/db/index.ts";
import type { HealthScope } from "../../../health-source.ts";

/** The number of runs with a status. */
export interface StateCount {
  readonly status: string;
  readonly count: number;
}

/** The most rows that are counted for one number. */
const countMax = 10_000;
const endedMax = 100_000;

/** Counts the runs that ended in a time, by status: the latest hundred thousand at most. */
export async function countEndedRuns(
  sql: Sql,
  { tenantId, environmentId }: HealthScope,
  start: Date,
  end: Date,
): Promise<StateCount[]> {
  return sql<StateCount[]>`
    select status, count(*)::int as count from (
      select status from workflow_run_archive
      where tenant_id = ${tenantId} and environment_id = ${environmentId} and ended_at >= ${start} and ended_at < ${end}
      order by ended_at desc limit ${endedMax}
    ) latest group by status`;
}

/** Counts the runs that should have continued before a time, by status. */
export async function countOverdueRuns(
  sql: Sql,
  { tenantId, environmentId }: HealthScope,
  before: Date,
): Promise<StateCount[]> {
  return sql<StateCount[]>`
    select status, count(*)::int as count from (
      select status from workflow_runs
      where wake_at <= ${before} and tenant_id = ${tenantId} and environment_id = ${environmentId} limit ${countMax}
    ) overdue group by status`;
}

export async function countOpenLetters(sql: Sql, { tenantId, environmentId }: HealthScope): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from workflow_dead_letters
      where tenant_id = ${tenantId} and state = 'open' and environment_id = ${environmentId} limit ${countMax}
    ) open`;
  return row!.count;
}

/** Reads which states the dead letters of a tenant have. It reads one index entry for each state. */
export async function readLetterStates(sql: Sql, { tenantId }: HealthScope): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    with recursive states as (
      (select state from workflow_dead_letters where tenant_id = ${tenantId} order by state limit 1)
      union all
      select following.state from states s cross join lateral (
        select l.state from workflow_dead_letters l where l.tenant_id = ${tenantId} and l.state > s.state
        order by l.state limit 1) following
    )
    select state from states`;
  return rows.map(({ state }) => state);
}
