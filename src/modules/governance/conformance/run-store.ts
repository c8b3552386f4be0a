import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { type ConformanceRun, nextState, type RunStep, statesBefore } from "./domain/run.ts";
import type { Verdict } from "./domain/verdict.ts";

export interface RunFilter {
  readonly environmentId: string;
  readonly suiteId: string;
  readonly state: string;
  readonly inProduction: boolean | undefined;
}

/** An execution of a run. An older one than the newest may not write. */
export type Execution = Pick<ConformanceRun, "tenantId" | "id" | "attempt">;

export function runStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, environment_id, environment_key, suite_id, mode, state, cases_done, cases_total, report_id, verdict,
    requested_by, attempt, scratch_tenant_ids, deadline_at, started_at, ended_at, created_at, updated_at, record_version`;
  return {
    async insert(run: ConformanceRun): Promise<ConformanceRun> {
      const { tenantId, id, environmentId, environmentKey, suiteId, mode, state, casesTotal, requestedBy } = run;
      const [row] = await sql<ConformanceRun[]>`
        insert into conformance_runs (tenant_id, id, environment_id, environment_key, suite_id, mode, state, cases_total,
          requested_by, deadline_at, created_at, updated_at)
        values (${tenantId}, ${id}, ${environmentId}, ${environmentKey}, ${suiteId}, ${mode}, ${state}, ${casesTotal},
          ${requestedBy}, ${run.deadlineAt}, ${run.createdAt}, ${run.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, environmentId: string, id: string): Promise<ConformanceRun | undefined> {
      const [row] = await sql<ConformanceRun[]>`
        select ${columns} from conformance_runs
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and id = ${id}`;
      return row;
    },

    /** Serializes requests of a tenant until the transaction ends, and counts its runs that have not ended. */
    async countOpen(tenantId: TenantId): Promise<number> {
      await lockFor(sql, "conformance_runs", tenantId);
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from conformance_runs where tenant_id = ${tenantId} and ended_at is null`;
      return row!.count;
    },

    /**
     * Begins an execution of a run, or returns "busy" if the instance already executes the maximum. A run that another node
     * has begun does not count twice. Undefined if the run cannot begin any more.
     */
    async begin(
      tenantId: TenantId,
      id: string,
      runningMax: number,
      now: Date,
    ): Promise<ConformanceRun | "busy" | undefined> {
      await lockFor(sql, "conformance_starts");
      const [others] = await sql<{ count: number }[]>`
        select count(*)::int as count from conformance_runs
        where state = 'running' and ended_at is null and (tenant_id, id) <> (${tenantId}, ${id})`;
      if (others!.count >= runningMax) return "busy";
      const [row] = await sql<ConformanceRun[]>`
        update conformance_runs set state = 'running', attempt = attempt + 1, cases_done = 0,
          started_at = coalesce(started_at, ${now}), updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and state = any(${statesBefore("begin")})
        returning ${columns}`;
      return row;
    },

    /** Stores the scratch tenants of an execution. Returns whether the execution may go on. */
    async setScratchTenants({ tenantId, id, attempt }: Execution, ids: readonly TenantId[]): Promise<boolean> {
      const rows = await sql`
        update conformance_runs set scratch_tenant_ids = ${ids as TenantId[]}
        where tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt} and state = 'running' returning 1`;
      return rows.length === 1;
    },

    /** Notes that the scratch tenants of an execution were removed. */
    async clearScratchTenants({ tenantId, id, attempt }: Execution): Promise<void> {
      await sql`
        update conformance_runs set scratch_tenant_ids = '{}'
        where tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt}`;
    },

    /** Stores the progress of an execution. Returns whether it may go on. */
    async advance({ tenantId, id, attempt }: Execution, casesDone: number, now: Date): Promise<boolean> {
      const rows = await sql`
        update conformance_runs set cases_done = greatest(cases_done, ${casesDone}), updated_at = ${now},
          record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt} and state = 'running' returning 1`;
      return rows.length === 1;
    },

    /** Whether an execution may go on. */
    async isCurrent({ tenantId, id, attempt }: Execution): Promise<boolean> {
      const rows = await sql`
        select from conformance_runs
        where tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt} and state = 'running'`;
      return rows.length === 1;
    },

    /** Ends a run; undefined if it has ended already. With `attempt`, only the newest execution ends it. */
    async end(
      { tenantId, id, attempt }: Pick<Execution, "tenantId" | "id"> & { readonly attempt?: number },
      step: Exclude<RunStep, "begin">,
      report: { readonly id: string; readonly verdict: Verdict } | undefined,
      now: Date,
    ): Promise<ConformanceRun | undefined> {
      const before = statesBefore(step);
      const state = nextState(before[0]!, step)!;
      const [row] = await sql<ConformanceRun[]>`
        update conformance_runs set state = ${state}, ended_at = ${now}, updated_at = ${now},
          report_id = ${report?.id ?? ""}, verdict = ${report?.verdict ?? ""}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and state = any(${before})
          and attempt = coalesce(${attempt ?? null}::int, attempt)
        returning ${columns}`;
      return row;
    },

    /** Runs that have not ended although their deadline has passed, oldest first. */
    async findOverdue(before: Date, limit: number): Promise<ConformanceRun[]> {
      return sql<ConformanceRun[]>`
        select ${columns} from conformance_runs where ended_at is null and deadline_at < ${before}
        order by deadline_at limit ${limit}`;
    },

    /** Ended runs whose scratch tenants still exist. */
    async findWithScratchTenants(endedBefore: Date, limit: number): Promise<ConformanceRun[]> {
      return sql<ConformanceRun[]>`
        select ${columns} from conformance_runs where scratch_tenant_ids <> '{}' and ended_at < ${endedBefore}
        order by ended_at limit ${limit}`;
    },

    async list(tenantId: TenantId, filter: RunFilter, page: Page): Promise<PageRows<ConformanceRun>> {
      const { environmentId, suiteId, state, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
        ${suiteId === "" ? sql`` : sql`and suite_id = ${suiteId}`}
        ${state === "" ? sql`` : sql`and state = ${state}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      return readKeyset<ConformanceRun>(sql, { columns, table: "conformance_runs", where, newestFirst: true }, page);
    },
  };
}
