import type { Sql } from "../../../platform/db/index.ts";
import type { HealthScope, HealthSource, HealthTime, RunHealth, StateCounts } from "../../health-source.ts";
import type { RunSweeper } from "./run-sweeper.ts";

/** The number of runs with a status. */
interface StateCount {
  readonly status: string;
  readonly count: number;
}

/** The most rows that are counted for one number. */
const countMax = 10_000;
const endedMax = 100_000;

/** Creates the source of health reports about runs. The sweeper continues runs, so its passes are the heartbeat. */
export function createRunHealth({ lastPassMs }: Pick<RunSweeper, "lastPassMs">): HealthSource<RunHealth> {
  return { lastPassMs, read: readRunHealth };
}

async function readRunHealth(sql: Sql, scope: HealthScope, time: HealthTime): Promise<RunHealth> {
  const [ended, overdue, states, open] = await Promise.all([
    countEndedRuns(sql, scope, time),
    countOverdueRuns(sql, scope, time),
    readLetterStates(sql, scope),
    countOpenLetters(sql, scope),
  ]);
  const others = states.filter((state) => state !== "open").map((state) => [state, 1] as const);
  return { ended, overdue, letters: { ...Object.fromEntries(others), open } };
}

function toCounts(rows: readonly StateCount[]): StateCounts {
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Counts the runs that ended in a time, by status: the latest hundred thousand at most. */
async function countEndedRuns(sql: Sql, { tenantId, environmentId }: HealthScope, { start, end }: HealthTime) {
  const rows = await sql<StateCount[]>`
    select status, count(*)::int as count from (
      select status from workflow_run_archive
      where tenant_id = ${tenantId} and environment_id = ${environmentId} and ended_at >= ${start} and ended_at < ${end}
      order by ended_at desc limit ${endedMax}
    ) latest group by status`;
  return toCounts(rows);
}

/** Counts the runs that should have continued before a time, by status. */
async function countOverdueRuns(sql: Sql, { tenantId, environmentId }: HealthScope, { idleSince }: HealthTime) {
  const rows = await sql<StateCount[]>`
    select status, count(*)::int as count from (
      select status from workflow_runs
      where wake_at <= ${idleSince} and tenant_id = ${tenantId} and environment_id = ${environmentId} limit ${countMax}
    ) overdue group by status`;
  return toCounts(rows);
}

async function countOpenLetters(sql: Sql, { tenantId, environmentId }: HealthScope): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from workflow_dead_letters
      where tenant_id = ${tenantId} and state = 'open' and environment_id = ${environmentId} limit ${countMax}
    ) open`;
  return row!.count;
}

/** Reads which states the dead letters of a tenant have. It reads one index entry for each state. */
async function readLetterStates(sql: Sql, { tenantId }: HealthScope): Promise<string[]> {
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
