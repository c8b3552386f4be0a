import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import type { SimulationQuery } from "../../../promotable-artifacts.ts";
import type { Json } from "../../definitions/index.ts";
import type { HistoryEntry } from "../domain/engine/history-entry.ts";
import type { EndStatus, Run } from "../domain/run.ts";

/** An ended run with its whole history. */
export interface RecordedRun extends Pick<Run, "id" | "runKey" | "origin" | "createdAt"> {
  readonly status: EndStatus;
  readonly input: Json;
  /** Null if it is too large, or if a part of it has been deleted. */
  readonly advances: readonly { readonly atMs: number; readonly entries: readonly HistoryEntry[] }[] | null;
}

const pageSize = 20;
/** The largest history that is read, in bytes of JSON. */
const historyBytesMax = 512 * 1024;

/**
 * Reads the ended runs of a definition that started in a time range, newest first, page by page. Cancelled runs and replays are left
 * out: what they did depends on somebody, or on another run.
 */
export async function* readRecordedRuns(sql: Sql, tenantId: TenantId, query: SimulationQuery) {
  const { targetId, environmentId, from, until, itemsMax } = query;
  let before = lowestUlid(until.getTime());
  let left = itemsMax;
  while (left > 0) {
    const wanted = Math.min(pageSize, left);
    const page = await sql<RecordedRun[]>`
      select r.id, run_key, origin, created_at, status, input, case when h.count = revision then advances end as advances
      from (
        select id, run_key, origin, created_at, status, revision, state -> 'input' as input from workflow_run_archive
        where tenant_id = ${tenantId} and definition_id = ${targetId} and id >= ${lowestUlid(from.getTime())} and id < ${before}
          and environment_id = ${environmentId} and status <> 'cancelled' and origin ->> 'via' <> 'replay'
        order by id desc limit ${wanted}
      ) r
      cross join lateral (
        select count(*)::int as count, case when sum(octet_length(entries::text)) <= ${historyBytesMax} then
          json_agg(json_build_object('atMs', extract(epoch from at) * 1000, 'entries', entries) order by revision) end as advances
        from workflow_history where tenant_id = ${tenantId} and run_id = r.id
      ) h
      order by r.id desc`;
    yield page;
    if (page.length < wanted) return;
    left -= page.length;
    before = page.at(-1)!.id;
  }
}
