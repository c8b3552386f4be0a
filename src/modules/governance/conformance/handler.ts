import {
  type ConformanceService as Rpc,
  type RunConformanceSuiteRequest,
  RunConformanceSuiteResponseSchema,
} from "../../../../gen/service/api/conformance_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import { type KeyedCall, reviseResponses, withIdempotency } from "../../../platform/idempotency/index.ts";
import { pageOf } from "../../../platform/paging/index.ts";
import { createMessageConverter } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import { inTenant } from "../../tenant-work.ts";
import { type ConformanceReport, coverageOf } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";
import { reportStore } from "./report-store.ts";
import { runStore } from "./run-store.ts";
import type { ConformanceSuite } from "./sandbox/index.ts";
import type { ConformanceService } from "./service.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly service: ConformanceService;
  readonly suites: ReadonlyMap<string, ConformanceSuite>;
}

const newestFirst = { newestFirst: true };

export function conformanceHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { service, suites } = dependencies;
  const toRunResponse = createMessageConverter(RunConformanceSuiteResponseSchema);
  const sorted = [...suites.values()].sort((a, b) => (a.id < b.id ? -1 : 1));

  /** The run with its report, if it has one. */
  async function responseFor(context: Context, run: ConformanceRun) {
    const { environmentId, reportId } = run;
    const report = reportId === "" ? undefined : await service.getReport(context, environmentId, reportId);
    return toRunResponse({ run, report: report && fromReport(report) });
  }

  return {
    async listConformanceSuites(context, request) {
      return context.page("suites", request, [], async (wanted) => pageOf(sorted, ({ id }) => id, wanted));
    },

    async getConformanceSuite(_context, { suiteId }) {
      return { suite: service.getSuite(suiteId) };
    },

    // A transaction of its own, because the wait begins after the commit.
    runConformanceSuite: {
      async ownCommit(context: Context, request: RunConformanceSuiteRequest, keyed: KeyedCall | undefined) {
        const requested = await inTenant(dependencies, context.tenantId, (within) =>
          withIdempotency(within.sql, keyed, async () => {
            const run = await service.requestRun({ ...within, principal: context.principal }, request);
            return { run, response: toRunResponse({ run }) };
          }),
        );
        if (requested === "duplicate") return requested;
        const { run } = requested;
        if (request.waitS === 0) return responseFor(context, run);
        const response = await responseFor(context, await service.waitForEnd(context, run, request.waitS * 1000));
        // A repeated request gets the same response.
        if (keyed !== undefined) await reviseResponses(dependencies.db.sql, [keyed.record(response)]);
        return response;
      },
    },

    async getConformanceRun(context, { environmentId, runId, waitS }) {
      const run = await service.getRun(context, environmentId, runId);
      return { run: waitS === 0 ? run : await service.waitForEnd(context, run, waitS * 1000) };
    },

    async listConformanceRuns(context, request) {
      const { tenantId, sql, principal } = context;
      const { suiteId, state } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      return context.page("runs", request, [environmentId, suiteId, state, inProduction], (wanted) =>
        runStore(sql).listWhere(tenantId, { environmentId, suiteId, state, inProduction }, wanted, newestFirst),
      );
    },

    async cancelConformanceRun(context, { environmentId, runId }) {
      return { run: await service.cancelRun(context, environmentId, runId) };
    },

    async listConformanceReports(context, request) {
      const { tenantId, sql, principal } = context;
      const { suiteId, verdict } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const filter = { environmentId, suiteId, verdict, inProduction };
      const page = await context.page(
        "reports",
        request,
        [environmentId, suiteId, verdict, inProduction],
        (wanted) => reportStore(sql).listWhere(tenantId, filter, wanted, newestFirst),
        ({ lastRunId }) => lastRunId,
      );
      return { ...page, reports: page.reports.map((report) => ({ ...fromReport(report), cases: [] })) };
    },

    async getConformanceReport(context, { environmentId, reportId }) {
      return { report: fromReport(await service.getReport(context, environmentId, reportId)) };
    },

    async explainConformanceReport(context, request) {
      return { explanation: await service.explainReport(context, request) };
    },
  };
}

function fromReport({ content: { suiteVersion, build, cases }, ...report }: ConformanceReport) {
  const { not_applicable: notApplicable, ...counts } = coverageOf(cases);
  return { ...report, suiteVersion, build, coverage: { ...counts, notApplicable }, cases };
}
