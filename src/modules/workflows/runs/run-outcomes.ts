import { lowestUlid } from "../../../platform/ids/ulid.ts";
import type { KeyOutcome } from "../../promotable-artifacts.ts";
import type { ReadRunOutcomes } from "../definitions/index.ts";

/** The ended runs that are read at most. */
const runsMax = 50_000;

/** The first ended run of each run key. Cancelled runs and runs without a key are left out. */
export const readRunOutcomes: ReadRunOutcomes = async (sql, tenantId, query) => {
  const { targetId, environmentId, since, canary, keysMax } = query;
  const side =
    canary === undefined
      ? sql`''`
      : sql`case when origin -> 'canary' ->> 'candidateId' = ${canary.candidateId}
          then origin -> 'canary' ->> 'side' else '' end`;
  return sql<KeyOutcome[]>`
    select key, success, latency_ms, side from (
      select distinct on (run_key) run_key as key, status = 'succeeded' as success, side,
        (extract(epoch from ended_at - created_at) * 1000)::float8 as latency_ms
      from (
        select id, run_key, status, created_at, ended_at, ${side} as side from workflow_run_archive
        where tenant_id = ${tenantId} and definition_id = ${targetId} and id >= ${lowestUlid(since.getTime())}
          and environment_id = ${environmentId} and run_key <> '' and status <> 'cancelled'
        order by id desc limit ${runsMax}
      ) runs
      order by run_key, id
    ) firsts
    ${canary === undefined ? sql`` : sql`where side <> ''`}
    limit ${keysMax}`;
};
