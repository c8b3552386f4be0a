import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import { type Backlog, joinSelected, type Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset, totalMax } from "../../../../platform/paging/index.ts";
import type { RunEventWrite } from "../storage/run-write.ts";
import type { DeadLetter, DeadLetterState } from "./dead-letter.ts";

/** The filter of dead letters. Empty fields match all. */
export interface DeadLetterFilter extends Pick<DeadLetter, "state" | "definitionId" | "environmentId" | "errorCode"> {
  /** The environments that the caller may see. */
  readonly mode: EnvironmentMode;
}

export interface DeadLetterCounts {
  readonly open: number;
  readonly quarantined: number;
  readonly exhausted: number;
  readonly oldestFailureAt: Date | null;
  readonly byErrorCode: readonly { readonly errorCode: string; readonly count: number }[];
}

const codesMax = 20;

/** Letters that nobody has replayed, discarded or set aside. */
export const openLetters: Backlog = {
  name: "workflow_dead_letters",
  rows: (sql) => sql`select failed_at, run_id from workflow_dead_letters where state = 'open'`,
};

export function deadLetterStore(sql: Sql) {
  const columns = sql`tenant_id, run_id, environment_id, environment_key, definition_id, definition_key, version, state,
    error_code, error_message, step, replay_count, max_replays, replay_run_id, first_failed_at, failed_at, reason,
    changed_by`;
  const matches = ({ definitionId, environmentId, errorCode, mode }: Omit<DeadLetterFilter, "state">) => sql`true
    ${definitionId === "" ? sql`` : sql`and definition_id = ${definitionId}`}
    ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
    ${errorCode === "" ? sql`` : sql`and error_code = ${errorCode}`}
    ${mode === "any" ? sql`` : sql`and (environment_key = 'production') = ${mode === "production_only"}`}`;
  return {
    find: (tenantId: TenantId, runId: string) =>
      sql<DeadLetter[]>`
        select ${columns} from workflow_dead_letters where tenant_id = ${tenantId} and run_id = ${runId}`.first(),

    async list(tenantId: TenantId, filter: DeadLetterFilter, page: Page): Promise<PageRows<DeadLetter>> {
      const { definitionId, environmentId, errorCode, mode } = filter;
      const isFiltered = [definitionId, environmentId, errorCode].some((each) => each !== "") || mode !== "any";
      return readKeyset<DeadLetter>(
        sql,
        {
          ...{ columns, table: "workflow_dead_letters", key: "run_id", newestFirst: true },
          where: sql`tenant_id = ${tenantId} and state = ${filter.state}`,
          filter: isFiltered ? matches(filter) : undefined,
        },
        page,
      );
    },

    /** Counts at most the first ten thousand letters of each state. */
    async count(tenantId: TenantId, filter: Omit<DeadLetterFilter, "state">): Promise<DeadLetterCounts> {
      const some = (state: DeadLetterState) => sql`
        select error_code, failed_at, replay_count, max_replays from workflow_dead_letters
        where tenant_id = ${tenantId} and state = ${state} and ${matches(filter)} limit ${totalMax + 1}`;
      const [row] = await sql<DeadLetterCounts[]>`
        with open as materialized (${some("open")}), aside as (${some("quarantined")})
        select (select count(*) from open) as open, (select count(*) from aside) as quarantined,
          (select count(*) from open where replay_count >= max_replays) as exhausted,
          (select min(failed_at) from open) as oldest_failure_at,
          (select coalesce(json_agg(json_build_object('errorCode', error_code, 'count', count)
              order by count desc, error_code), '[]'::json)
            from (select error_code, count(*) as count from open group by error_code
              order by count desc, error_code limit ${codesMax}) codes) as by_error_code`;
      return row!;
    },

    /** The next open letters that can be replayed, the oldest run first. */
    async findReplayable(
      tenantId: TenantId,
      filter: Omit<DeadLetterFilter, "state">,
      after: string,
      limit: number,
    ): Promise<DeadLetter[]> {
      return sql<DeadLetter[]>`
        select ${columns} from workflow_dead_letters
        where tenant_id = ${tenantId} and state = 'open' and run_id > ${after} and replay_count < max_replays
          and ${matches(filter)}
        order by run_id limit ${limit}`;
    },

    /**
     * Counts a replay of a letter, if it is open, below its maximum and as it was read. Called in the transaction that
     * stores the new run.
     */
    async claimReplay(letter: DeadLetter, newRunId: string, by: string): Promise<boolean> {
      const rows = await sql`
        update workflow_dead_letters
        set state = 'replayed', replay_count = replay_count + 1, replay_run_id = ${newRunId}, changed_by = ${by}
        where tenant_id = ${letter.tenantId} and run_id = ${letter.runId} and state = 'open'
          and replay_count < max_replays and replay_run_id = ${letter.replayRunId}
        returning 1`;
      return rows.length === 1;
    },

    /** Notes a replay that somebody made of the run itself. False if the letter is quarantined. */
    async noteReplay(tenantId: TenantId, runId: string, newRunId: string, by: string): Promise<boolean> {
      const [row] = await sql<{ state: DeadLetterState }[]>`
        with locked as (
          select tenant_id, run_id, state from workflow_dead_letters
          where tenant_id = ${tenantId} and run_id = ${runId} for update
        ), noted as (
          update workflow_dead_letters letter
          set state = 'replayed', replay_run_id = ${newRunId}, changed_by = ${by}
          from locked where letter.tenant_id = locked.tenant_id and letter.run_id = locked.run_id
            and locked.state <> 'quarantined'
        )
        select state from locked`;
      return row?.state !== "quarantined";
    },

    /** Changes the state of a letter, if it is in one of the given states, and adds an event. */
    change: (
      letter: DeadLetter,
      change: { readonly from: readonly DeadLetterState[]; readonly to: DeadLetterState },
      { by, reason, event }: { readonly by: string; readonly reason: string; readonly event: RunEventWrite },
    ) =>
      sql<DeadLetter[]>`
        with changed as (
          update workflow_dead_letters set state = ${change.to}, reason = ${reason}, changed_by = ${by}
          where tenant_id = ${letter.tenantId} and run_id = ${letter.runId}
            and state = any(${change.from as string[]}::text[])
          returning ${columns}
        ), added as (
          insert into events (tenant_id, id, type, source, subject, time, data, environment_id, in_production)
          select tenant_id, ${event.id}, ${event.type}, '/workflow', run_id, now(), ${JSON.stringify(event.data)}::jsonb,
            environment_id, environment_key = 'production'
          from changed
        )
        select * from changed`.first(),

    /** Deletes letters that failed before a time, in all tenants; returns their number. */
    async deleteExpired(before: Date, limit: number): Promise<number> {
      const expired = sql`
        from workflow_dead_letters where failed_at < ${before} order by failed_at limit ${limit} for update skip locked`;
      const joined = joinSelected(sql, "workflow_dead_letters", expired, ["tenant_id", "run_id"]);
      return (await sql`delete from workflow_dead_letters using ${joined}`).count;
    },
  };
}
