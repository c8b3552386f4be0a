import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { KeyClaim } from "../../../../platform/idempotency/index.ts";
import { type Page, type PageRows, pageBytesMax, readKeyset } from "../../../../platform/paging/index.ts";
import { shardOf } from "../../../../platform/shards/index.ts";
import type { HistoryEntry } from "../domain/engine/history-entry.ts";
import type { RunState } from "../domain/engine/state.ts";
import { type Run, type RunStatus, shardCount } from "../domain/run.ts";

/** The filter of a list of runs. Empty fields match all. */
export interface RunFilter {
  readonly definitionId: string;
  readonly status: RunStatus | "";
  readonly environmentId: string;
  readonly runKey: string;
  readonly parentRunId: string;
  /** JSON of attributes that the runs have. */
  readonly attributes: string;
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** Which runs are changed together. Empty fields match all. */
export interface ChangedFilter
  extends Pick<RunFilter, "definitionId" | "environmentId" | "inProduction" | "status" | "attributes"> {
  /** 0 for all. */
  readonly version: number;
  readonly createdBefore: Date | undefined;
}

/** The most runs that one search looks at. */
const scanMax = 10_000;

/** One advance in the history of a run. */
export interface HistoryRow {
  readonly revision: number;
  readonly at: Date;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

export function runStore(sql: Sql) {
  const columns = sql`tenant_id, id, environment_id, definition_id, version, run_key, status, state::text as state_json,
    output, error, revision, origin, parent_run_id, created_at, ended_at, wake_at`;
  const conditionsOf = ({
    status,
    environmentId,
    attributes,
    inProduction,
  }: Pick<RunFilter, "status" | "environmentId" | "attributes" | "inProduction">) => sql`true
    ${status === "" ? sql`` : sql`and status = ${status}`}
    ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
    ${attributes === "" ? sql`` : sql`and (origin -> 'attributes')::jsonb @> ${attributes}::text::jsonb`}
    ${inProduction === undefined ? sql`` : sql`and (origin ->> 'environment' = 'production') = ${inProduction}`}`;
  return {
    /** Reads a run, whether it has ended or not. */
    find: (tenantId: TenantId, id: string) =>
      sql<Run[]>`select ${columns} from all_workflow_runs where tenant_id = ${tenantId} and id = ${id}`.first(),

    /** Whether a run and all runs above it are in progress. */
    async hasLiveAncestors(tenantId: TenantId, id: string): Promise<boolean> {
      const rows = await sql`
        with recursive live as (
          select parent_run_id from workflow_runs where tenant_id = ${tenantId} and id = ${id}
          union all
          select r.parent_run_id from live join workflow_runs r
            on r.tenant_id = ${tenantId} and r.id = live.parent_run_id)
        select from live where parent_run_id = ''`;
      return rows.length > 0;
    },

    /** The run in progress with a key. */
    findByKey: (tenantId: TenantId, environmentId: string, definitionId: string, runKey: string) =>
      sql<Run[]>`
        select ${columns} from all_workflow_runs
        where (tenant_id, id) = (
          select tenant_id, id from workflow_runs
          where tenant_id = ${tenantId} and environment_id = ${environmentId} and definition_id = ${definitionId}
            and run_key = ${runKey} and run_key <> '')`.first(),

    /** Moves an ended run back to those in progress. False if it has not ended, or if another run has its run key. */
    async reopen(tenantId: TenantId, id: string): Promise<boolean> {
      const rows = await sql`
        with ended as (delete from workflow_run_archive where tenant_id = ${tenantId} and id = ${id} returning *)
        insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
          shard, wake_at, origin, parent_run_id, unread, created_at)
        select tenant_id, id, environment_id, definition_id, version, run_key, 'running', state, revision,
          ${shardOf(id, shardCount)}, null, origin, parent_run_id, 0, created_at
        from ended
        on conflict do nothing
        returning 1`;
      return rows.length === 1;
    },

    /** Replaces the state of an ended run. False if it was replaced or reopened meanwhile. */
    async replaceEnded(
      tenantId: TenantId,
      { id, revision, stateJson }: Pick<Run, "id" | "revision" | "stateJson">,
      state: RunState,
    ): Promise<boolean> {
      const rows = await sql`
        update workflow_run_archive set state = ${JSON.stringify(state)}::text::json
        where tenant_id = ${tenantId} and id = ${id} and revision = ${revision} and state::text = ${stateJson}
        returning 1`;
      return rows.length === 1;
    },

    /** Those of the given runs that have not ended. */
    async findInProgress(tenantId: TenantId, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return [];
      const rows = await sql<{ id: string }[]>`
        select id from workflow_runs where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
      return rows.map(({ id }) => id);
    },

    /** Those of the given runs that exist, whether they have ended or not. */
    async findExisting(tenantId: TenantId, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return [];
      const rows = await sql<{ id: string }[]>`
        select id from all_workflow_runs where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
      return rows.map(({ id }) => id);
    },

    async list(tenantId: TenantId, filter: RunFilter, page: Page): Promise<PageRows<Run>> {
      const { definitionId, status, environmentId, runKey, parentRunId, attributes, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${definitionId === "" ? sql`` : sql`and definition_id = ${definitionId}`}`;
      const conditions = sql`${conditionsOf(filter)}
        ${runKey === "" ? sql`` : sql`and run_key = ${runKey}`}
        ${parentRunId === "" ? sql`` : sql`and parent_run_id = ${parentRunId}`}`;
      const isFiltered =
        [status, environmentId, runKey, parentRunId, attributes].some((each) => each !== "") ||
        inProduction !== undefined;
      const selection = { columns, table: "all_workflow_runs", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<Run>(sql, { ...selection, newestFirst: true }, page);
    },

    /**
     * Finds runs that match, the oldest first: those in progress, or those with a dead letter that can be replayed. A letter has
     * the id of its first run, and matches as its latest replay does. One call looks at a bounded number of runs.
     */
    async findMatching(
      tenantId: TenantId,
      filter: ChangedFilter,
      after: string,
      limit: number,
      among: "in_progress" | "replayable",
    ): Promise<{ readonly ids: readonly string[]; readonly next: string }> {
      const { definitionId, version, createdBefore } = filter;
      const compared = sql`status, definition_id, environment_id, version, created_at, origin`;
      const first =
        among === "in_progress"
          ? sql`select id, ${compared} from workflow_runs where tenant_id = ${tenantId} and id > ${after}`
          : sql`
            select l.run_id as id, r.* from workflow_dead_letters l cross join lateral (
              select ${compared} from workflow_run_archive
              where tenant_id = l.tenant_id and id = coalesce(nullif(l.replay_run_id, ''), l.run_id) limit 1) r
            where l.tenant_id = ${tenantId} and l.state = 'open' and l.replay_count < l.max_replays and l.run_id > ${after}`;
      const [found] = await sql<{ ids: string[]; last: string | null; isFull: boolean }[]>`
        with first as materialized (
          ${first} order by id limit ${scanMax}
        ), matching as (
          select id from first where ${conditionsOf(filter)}
            ${definitionId === "" ? sql`` : sql`and definition_id = ${definitionId}`}
            ${version === 0 ? sql`` : sql`and version = ${version}`}
            ${createdBefore === undefined ? sql`` : sql`and created_at < ${createdBefore}`}
          order by id limit ${limit}
        )
        select array(select id from matching order by id) as ids, (select max(id) from first) as last,
          (select count(*) from first) = ${scanMax} as is_full`;
      const { ids, last, isFull } = found!;
      return { ids, next: ids.length === limit ? ids.at(-1)! : isFull ? last! : "" };
    },

    /** The advances of a run, in order. */
    async history(tenantId: TenantId, run: Pick<Run, "id" | "revision">, page: Page): Promise<PageRows<HistoryRow>> {
      const after = page.after === undefined ? 0 : Number(page.after);
      const rows = await sql<HistoryRow[]>`
        select revision, at, entries from workflow_history
        where tenant_id = ${tenantId} and run_id = ${run.id} and revision > ${after}
        order by revision offset ${page.offset} limit ${page.fetch}`.firstRows(pageBytesMax, page.fetch);
      return { rows, total: { count: run.revision, capped: false }, isCut: rows.isCut };
    },

    /** The whole history of a run; undefined if a part of it has been deleted. */
    async allHistory(
      tenantId: TenantId,
      { id, revision }: Pick<Run, "id" | "revision">,
    ): Promise<HistoryEntry[] | undefined> {
      const rows = await sql<{ entries: HistoryEntry[] }[]>`
        select entries from workflow_history where tenant_id = ${tenantId} and run_id = ${id} order by revision`;
      return rows.length === revision ? rows.flatMap(({ entries }) => entries) : undefined;
    },
  };
}

/** Frees the idempotency key of a call that had no effect. */
export async function releaseKey(
  sql: Sql,
  { tenantId, principal, operation, key }: Pick<KeyClaim, "tenantId" | "principal" | "operation" | "key">,
): Promise<void> {
  await sql`
    delete from idempotency_records
    where tenant_id = ${tenantId} and principal = ${principal} and operation = ${operation} and key = ${key}`;
}
