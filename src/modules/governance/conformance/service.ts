import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import {
  environmentIdOf,
  type ReferredEnvironment,
  requireEnvironment,
  requireEnvironmentAccess,
} from "../../../platform/access/index.ts";
import { nextWake, notFound, type Signals } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { enqueueJobs } from "../../../platform/jobs/index.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { nearestName } from "../../../platform/text/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import { type Explanation, explainReport } from "./domain/explanation.ts";
import type { ConformanceReport } from "./domain/report.ts";
import { type ConformanceRun, hasEnded } from "./domain/run.ts";
import { reportStore } from "./report-store.ts";
import { type RunEnder, runTopic } from "./run-end.ts";
import { newRunJob } from "./run-executor.ts";
import { runStore } from "./run-store.ts";
import type { ConformanceSuite } from "./sandbox/index.ts";

/** The input of a run. */
export interface RunRequest {
  readonly suiteId: string;
  /** Production when empty. */
  readonly environmentId: string;
  readonly dryRun: boolean;
  /** The longest time when 0. */
  readonly timeoutS: number;
}

/** The part of a call's context that a request for a run needs. */
type RequestContext = EventContext & Pick<Context, "principal">;

export interface ConformanceServiceParts {
  readonly suites: ReadonlyMap<string, ConformanceSuite>;
  readonly signals: Signals;
  readonly events: EventRecorder;
  readonly ender: RunEnder;
  readonly wakeJobs: () => void;
  readonly timeoutS: number;
  readonly openRunsMax: number;
}

/** The operations on suites, runs and reports. */
export type ConformanceService = ReturnType<typeof createConformanceService>;

const waitPollMs = 1000;

export function createConformanceService(dependencies: ConformanceServiceParts) {
  const { suites, signals, events, ender } = dependencies;
  const stopping = new AbortController();

  function getSuite(suiteId: string): ConformanceSuite {
    const suite = suites.get(suiteId);
    if (suite !== undefined) return suite;
    const near = nearestName(suiteId, [...suites.keys()]);
    throw fail("NOT_FOUND", { public: `No such suite.${near === undefined ? "" : ` Did you mean ${near}?`}` });
  }

  async function getRun(context: Context, environment: string, id: string): Promise<ConformanceRun> {
    const environmentId = await environmentIdOf(context, environment);
    const run = await runStore(context.sql).find(context.tenantId, environmentId, id);
    if (run === undefined) throw notFound("conformance run");
    requireEnvironmentAccess(context, run.environmentKey);
    return run;
  }

  async function getReport(context: Context, environment: string, id: string): Promise<ConformanceReport> {
    const environmentId = await environmentIdOf(context, environment);
    const report = await reportStore(context.sql).find(context.tenantId, environmentId, id);
    if (report === undefined) throw notFound("conformance report");
    requireEnvironmentAccess(context, report.environmentKey);
    return report;
  }

  return {
    getSuite,
    getRun,
    getReport,

    /** Requests a run, in the transaction of the context. */
    async requestRun(context: RequestContext, request: RunRequest): Promise<ConformanceRun> {
      const { sql, tenantId, principal, nowMs } = context;
      const suite = getSuite(request.suiteId);
      const environment = await requireEnvironment(context, request.environmentId);
      requireSafeMode(environment, request.dryRun);
      const timeoutS = request.timeoutS || dependencies.timeoutS;
      if (timeoutS > dependencies.timeoutS) {
        const message = `must be at most ${dependencies.timeoutS}, which conformance.run_timeout_s sets`;
        throw invalid("timeout_s", "max", message);
      }
      const store = runStore(sql);
      if ((await store.countOpen(tenantId)) >= dependencies.openRunsMax) throw tooManyRuns(dependencies.openRunsMax);
      const run = await store.insert({
        ...{ tenantId, id: ulid(nowMs), environmentId: environment.id, environmentKey: environment.key },
        ...{ suiteId: suite.id, mode: request.dryRun ? "dry_run" : "sandbox", state: "queued" },
        ...{ casesDone: 0, casesTotal: suite.cases.length, reportId: "", verdict: "", attempt: 0 },
        requestedBy: principal.subject,
        scratchTenantIds: [],
        deadlineAt: new Date(nowMs + timeoutS * 1000),
        startedAt: null,
        endedAt: null,
        ...newStamps(nowMs),
      });
      await enqueueJobs(sql, [newRunJob(tenantId, run.id, nowMs)], nowMs);
      const data = { suite_id: suite.id, environment_id: environment.id, mode: run.mode };
      await events.record(context, "conformance.run.requested", run.id, data);
      context.afterCommit(dependencies.wakeJobs);
      return run;
    },

    /** Waits until a run has ended or the time is over, and returns it. */
    async waitForEnd(context: Context, run: ConformanceRun, waitMs: number): Promise<ConformanceRun> {
      const untilMs = performance.now() + waitMs;
      const signal = AbortSignal.any([context.signal, stopping.signal]);
      let current = run;
      while (!hasEnded(current.state)) {
        const startedMs = performance.now();
        const restMs = untilMs - startedMs;
        if (restMs <= 0 || signal.aborted) return current;
        const wake = nextWake(signals, runTopic(run), signal, Math.min(restMs, waitPollMs));
        // The run may have ended before anybody listened.
        current = await getRun(context, run.environmentId, run.id);
        if (!hasEnded(current.state)) await wake.reason;
        wake.cancel();
        context.waited(performance.now() - startedMs);
        await context.recheckAccess();
        if (!hasEnded(current.state)) current = await getRun(context, run.environmentId, run.id);
      }
      return current;
    },

    /** Ends the calls that wait for the end of a run, when the node stops. */
    endWaits: () => stopping.abort(),

    /** Cancels a run. A cancelled run stays cancelled; other ended runs cannot be cancelled. */
    async cancelRun(context: Context, environmentId: string, id: string): Promise<ConformanceRun> {
      const run = await getRun(context, environmentId, id);
      const cancelled = await ender.end(context, run, "cancel");
      if (cancelled !== undefined) return cancelled;
      const current = await getRun(context, environmentId, id);
      if (current.state === "cancelled") return current;
      throw fail("FAILED_PRECONDITION", {
        public: `The run is ${current.state} and cannot be cancelled. Only queued and running runs can.`,
      });
    },

    /** Explains a report, or the latest one of an environment. */
    async explainReport(
      context: Context,
      input: { environmentId: string; reportId: string; suiteId: string; caseId: string },
    ): Promise<Explanation> {
      const { sql, tenantId } = context;
      const { id: environmentId } = await requireEnvironment(context, input.environmentId);
      const report =
        input.reportId === ""
          ? await reportStore(sql).findLatest(tenantId, environmentId, input.suiteId)
          : await getReport(context, environmentId, input.reportId);
      if (report === undefined) throw notFound("conformance report");
      if (input.caseId !== "" && !report.content.cases.some(({ caseId }) => caseId === input.caseId)) {
        throw invalid("case_id", "known", "must be the id of a case in the report; GET the report to see its cases");
      }
      const previous = await reportStore(sql).findPrevious(tenantId, report);
      return explainReport(report, previous, suites.get(report.suiteId), input.caseId);
    },
  };
}

/** Refuses to make changes for a live environment. */
function requireSafeMode({ key, mode }: ReferredEnvironment, dryRun: boolean): void {
  if (mode === "sandbox" || dryRun) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The environment ${key} is live. Set dry_run, or choose a sandbox environment.`,
  });
}

function tooManyRuns(max: number) {
  return fail("FAILED_PRECONDITION", {
    public: `${max} conformance runs have not ended yet, which is the maximum. Wait for one of them, or cancel it.`,
  });
}
