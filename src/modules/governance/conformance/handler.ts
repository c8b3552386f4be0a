import { create } from "@bufbuild/protobuf";
import {
  CancelConformanceRunResponseSchema,
  ExplainConformanceReportResponseSchema,
  GetConformanceReportResponseSchema,
  GetConformanceRunResponseSchema,
  GetConformanceSuiteResponseSchema,
  ListConformanceReportsResponseSchema,
  ListConformanceRunsResponseSchema,
  ListConformanceSuitesResponseSchema,
  type ConformanceService as Rpc,
  type RunConformanceSuiteRequest,
  type RunConformanceSuiteResponse,
  RunConformanceSuiteResponseSchema,
} from "../../../../gen/service/api/conformance_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import { type KeyedCall, reviseResponses, withIdempotency } from "../../../platform/idempotency/index.ts";
import { pageOf, readPage } from "../../../platform/paging/index.ts";
import type { PlatformServices } from "../../area.ts";
import { inTenant } from "../../tenant-work.ts";
import type { ConformanceReport } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";
import { fromExplanation, fromReport, fromRun, fromSuite } from "./messages.ts";
import { reportStore } from "./report-store.ts";
import { runStore } from "./run-store.ts";
import type { ConformanceSuite } from "./sandbox/index.ts";
import type { ConformanceService } from "./service.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "cursors"> {
  readonly service: ConformanceService;
  readonly suites: ReadonlyMap<string, ConformanceSuite>;
}

export function conformanceHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { service, cursors, suites } = dependencies;
  const sorted = [...suites.values()].sort((a, b) => (a.id < b.id ? -1 : 1));

  /** The run with its report, if it has one. */
  async function responseFor(context: Context, run: ConformanceRun): Promise<RunConformanceSuiteResponse> {
    const { environmentId, reportId } = run;
    const report = reportId === "" ? undefined : await service.getReport(context, environmentId, reportId);
    return create(RunConformanceSuiteResponseSchema, {
      run: fromRun(run),
      ...(report !== undefined && { report: fromReport(report, "whole") }),
    });
  }

  return {
    async listConformanceSuites({ tenantId, operation }, request) {
      const scope = { tenantId, operation: operation.id };
      const idOf = ({ id }: ConformanceSuite) => id;
      const page = await readPage(cursors, request, scope, idOf, async (wanted) => pageOf(sorted, idOf, wanted));
      return create(ListConformanceSuitesResponseSchema, { ...page, suites: page.items.map(fromSuite) });
    },

    async getConformanceSuite(_context, { suiteId }) {
      return create(GetConformanceSuiteResponseSchema, { suite: fromSuite(service.getSuite(suiteId)) });
    },

    // A transaction of its own, because the wait begins after the commit.
    runConformanceSuite: {
      async ownCommit(context: Context, request: RunConformanceSuiteRequest, keyed: KeyedCall | undefined) {
        const requested = await inTenant(dependencies, context.tenantId, (within) =>
          withIdempotency(within.sql, keyed, async () => {
            const run = await service.requestRun({ ...within, principal: context.principal }, request);
            return { run, response: create(RunConformanceSuiteResponseSchema, { run: fromRun(run) }) };
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
      const current = waitS === 0 ? run : await service.waitForEnd(context, run, waitS * 1000);
      return create(GetConformanceRunResponseSchema, { run: fromRun(current) });
    },

    async listConformanceRuns(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const { suiteId, state } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [environmentId, suiteId, state, inProduction] },
        ({ id }: ConformanceRun) => id,
        (wanted) => runStore(sql).list(tenantId, { environmentId, suiteId, state, inProduction }, wanted),
      );
      return create(ListConformanceRunsResponseSchema, { ...page, runs: page.items.map(fromRun) });
    },

    async cancelConformanceRun(context, { environmentId, runId }) {
      return create(CancelConformanceRunResponseSchema, {
        run: fromRun(await service.cancelRun(context, environmentId, runId)),
      });
    },

    async listConformanceReports(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const { suiteId, verdict } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [environmentId, suiteId, verdict, inProduction] },
        ({ lastRunId }: ConformanceReport) => lastRunId,
        (wanted) => reportStore(sql).list(tenantId, { environmentId, suiteId, verdict, inProduction }, wanted),
      );
      const reports = page.items.map((report) => fromReport(report, "summary"));
      return create(ListConformanceReportsResponseSchema, { ...page, reports });
    },

    async getConformanceReport(context, { environmentId, reportId }) {
      const report = await service.getReport(context, environmentId, reportId);
      return create(GetConformanceReportResponseSchema, { report: fromReport(report, "whole") });
    },

    async explainConformanceReport(context, request) {
      const explanation = await service.explainReport(context, request);
      return create(ExplainConformanceReportResponseSchema, { explanation: fromExplanation(explanation) });
    },
  };
}
