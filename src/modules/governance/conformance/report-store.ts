import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { ConformanceReport } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";

const reports = recordTable<ConformanceReport>("conformance_reports", {
  key: "last_run_id",
  fixed: `id environment_id environment_key suite_id mode verdict content produced_count last_run_id first_produced_at
    last_produced_at`,
});

export function reportStore(sql: Sql) {
  const { columns, listWhere } = reports(sql);
  return {
    listWhere,

    /** Stores a report that a run produced. The same content is one report, however often it is produced. */
    async upsert(
      { tenantId, environmentId, environmentKey, suiteId, mode, id: runId }: ConformanceRun,
      { id, verdict, content }: Pick<ConformanceReport, "id" | "verdict" | "content">,
      now: Date,
    ): Promise<void> {
      await sql`
        insert into conformance_reports (tenant_id, environment_id, id, environment_key, suite_id, mode, verdict, content,
          last_run_id, first_produced_at, last_produced_at)
        values (${tenantId}, ${environmentId}, ${id}, ${environmentKey}, ${suiteId}, ${mode}, ${verdict},
          ${sql.json(content as never)}, ${runId}, ${now}, ${now})
        on conflict (tenant_id, environment_id, id) do update set
          produced_count = conformance_reports.produced_count + 1,
          last_run_id = greatest(conformance_reports.last_run_id, excluded.last_run_id),
          last_produced_at = greatest(conformance_reports.last_produced_at, excluded.last_produced_at)`;
    },

    find: (tenantId: TenantId, environmentId: string, id: string) =>
      sql<ConformanceReport[]>`
        select ${columns} from conformance_reports
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and id = ${id}`.first(),

    /** The report of an environment that was produced last; of one suite, if it is not empty. */
    findLatest: (tenantId: TenantId, environmentId: string, suiteId: string) =>
      sql<ConformanceReport[]>`
        select ${columns} from conformance_reports
        where tenant_id = ${tenantId} and environment_id = ${environmentId}
          ${suiteId === "" ? sql`` : sql`and suite_id = ${suiteId}`}
        order by last_run_id desc limit 1`.first(),

    /** The report of the same suite, environment and mode that was last produced before another one. */
    findPrevious(tenantId: TenantId, report: ConformanceReport): Promise<ConformanceReport | undefined> {
      const { environmentId, suiteId, mode, lastRunId } = report;
      return sql<ConformanceReport[]>`
        select ${columns} from conformance_reports
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and suite_id = ${suiteId} and mode = ${mode}
          and last_run_id < ${lastRunId}
        order by last_run_id desc limit 1`.first();
    },
  };
}
