import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import type { KeyOutcome, OutcomeQuery } from "../../promotable-artifacts.ts";

/** The first outcome of each key of a pool, of the keys with the newest outcomes. Items without a key are left out. */
export async function poolOutcomes(sql: Sql, tenantId: TenantId, query: OutcomeQuery): Promise<readonly KeyOutcome[]> {
  const { targetId, since, canary, keysMax } = query;
  const side =
    canary === undefined
      ? sql`''`
      : sql`coalesce(jsonb_path_query_first(d.evidence::jsonb,
          '$.trace[*] ? (@.step == "canary" && @.id == $candidate).result',
          jsonb_build_object('candidate', ${canary.candidateId}::text)) #>> '{}', '')`;
  const from = lowestUlid(since.getTime());
  return sql<KeyOutcome[]>`
    select key, success, latency_ms, side from (
      select distinct on (d.key) d.key, o.status = 'success' as success, o.latency_ms, ${side} as side
      from (
        select decision_id, status, latency_ms from all_outcomes
        where tenant_id = ${tenantId} and pool_id = ${targetId} and recorded_at >= ${since} and decision_id >= ${from}
        order by recorded_at desc limit ${outcomesMax}
      ) o
      join decisions d on d.tenant_id = ${tenantId} and d.id = o.decision_id
      where d.key <> ''
      order by d.key, d.id
    ) firsts
    ${canary === undefined ? sql`` : sql`where side <> ''`}
    limit ${keysMax}`;
}

/** The outcomes that are read at most. Keys usually have a few outcomes. */
const outcomesMax = 50_000;

/** Counts a pool's waiting items and dead letters. */
export async function poolGauges(sql: Sql, tenantId: TenantId, targetId: string) {
  const [row] = await sql<{ queueDepth: number; deadLetters: number }[]>`
    select
      (select coalesce(sum(depth), 0)::int from queue_depths
        where tenant_id = ${tenantId} and pool_id = ${targetId}) as queue_depth,
      (select count(*)::int from dead_letters
        where tenant_id = ${tenantId} and pool_id = ${targetId} and state = 'failed') as dead_letters`;
  return { queue_depth: row!.queueDepth, dead_letters: row!.deadLetters };
}
