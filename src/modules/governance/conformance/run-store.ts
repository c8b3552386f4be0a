import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { ConformanceReport } from "./domain/report.ts";
import { type ConformanceRun, nextState, type RunStep, statesBefore } from "./domain/run.ts";

/** An execution of a run. An older one than the newest may not write. */
export type Execution = Pick<ConformanceRun, "tenantId" | "id" | "attempt">;

const runs = recordTable<ConformanceRun>("conformance_runs", {
  fixed: `tenant_id id environment_id environment_key suite_id mode requested_by deadline_at created_at`,
  mutable: `state cases_done cases_total report_id verdict attempt scratch_tenant_ids started_at ended_at updated_at
    record_version`,
});

export function runStore(sql: Sql) {
  const { columns, insert, set, listWhere } = runs(sql);
  /** Whether an execution may go on: it is the newest one of a run that has not ended. */
  const ofCurrent = ({ tenantId, id, attempt }: Execution) =>
    sql`tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt} and state = 'running'`;

  return {
    insert,
    listWhere,

    find: (tenantId: TenantId, environmentId: string, id: string) =>
      sql<ConformanceRun[]>`
        select ${columns} from conformance_runs
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and id = ${id}`.first(),

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
      const started = sql`
        state = 'running', attempt = attempt + 1, cases_done = 0, started_at = coalesce(started_at, ${now})`;
      return set(tenantId, id, now, started, sql`state = any(${statesBefore("begin")})`);
    },

    /** Stores the scratch tenants of an execution. Returns whether the execution may go on. */
    async setScratchTenants(execution: Execution, ids: readonly TenantId[]): Promise<boolean> {
      const { count } = await sql`
        update conformance_runs set scratch_tenant_ids = ${ids as TenantId[]} where ${ofCurrent(execution)}`;
      return count === 1;
    },

    /** Notes that the scratch tenants of an execution were removed. */
    async clearScratchTenants({ tenantId, id, attempt }: Execution): Promise<void> {
      await sql`
        update conformance_runs set scratch_tenant_ids = '{}'
        where tenant_id = ${tenantId} and id = ${id} and attempt = ${attempt}`;
    },

    /** Stores the progress of an execution. Returns whether it may go on. */
    async advance(execution: Execution, casesDone: number, now: Date): Promise<boolean> {
      const { count } = await sql`
        update conformance_runs set cases_done = greatest(cases_done, ${casesDone}), updated_at = ${now},
          record_version = record_version + 1
        where ${ofCurrent(execution)}`;
      return count === 1;
    },

    isCurrent: async (execution: Execution) =>
      (await sql`select from conformance_runs where ${ofCurrent(execution)}`).length === 1,

    /** Ends a run; undefined if it has ended already. With `attempt`, only the newest execution ends it. */
    end(
      { tenantId, id, attempt }: Pick<Execution, "tenantId" | "id"> & { readonly attempt?: number },
      step: Exclude<RunStep, "begin">,
      report: Pick<ConformanceReport, "id" | "verdict"> | undefined,
      now: Date,
    ): Promise<ConformanceRun | undefined> {
      const before = statesBefore(step);
      const state = nextState(before[0]!, step)!;
      const ended = sql`
        state = ${state}, ended_at = ${now}, report_id = ${report?.id ?? ""}, verdict = ${report?.verdict ?? ""}`;
      const isOpen = sql`state = any(${before}) and attempt = coalesce(${attempt ?? null}::int, attempt)`;
      return set(tenantId, id, now, ended, isOpen);
    },

    /** Runs that have not ended although their deadline has passed, oldest first. */
    findOverdue: (before: Date, limit: number) =>
      sql<ConformanceRun[]>`
        select ${columns} from conformance_runs where ended_at is null and deadline_at < ${before}
        order by deadline_at limit ${limit}`,

    /** Ended runs whose scratch tenants still exist. */
    findWithScratchTenants: (endedBefore: Date, limit: number) =>
      sql<ConformanceRun[]>`
        select ${columns} from conformance_runs where scratch_tenant_ids <> '{}' and ended_at < ${endedBefore}
        order by ended_at limit ${limit}`,
  };
}
