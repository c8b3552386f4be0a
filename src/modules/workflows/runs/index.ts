/**
 * Runs: executions of published workflow definitions.
 *
 * run: one execution; a row with a snapshot of its state. advance: applying an event to a run; its results are stored
 * together. revision: the number of advances of a run; a change that was computed from an older revision is not stored.
 * step key: the name of one execution of a step. plan: a compiled definition. effect: what a step does outside of the
 * run, performed after the commit and repeated until its result is known. mailbox: events that were sent to a run.
 * approval: a step that waits for decisions of people; a row as long as it is open.
 * replay: a new run that continues an ended one at one of its steps. dead letter: a run that failed or timed out, with the
 * number of its replays; replays that fail share the letter of the first run.
 */

import type { OperationCaller } from "../../../chain/operation-caller.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { type JobRunner, retentionJob } from "../../../platform/jobs/index.ts";
import { createShards } from "../../../platform/shards/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { HistoryRecorder } from "../../history-source.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Definitions } from "../definitions/index.ts";
import type { Environments } from "../environments/index.ts";
import type { TaskDispatch, Tasks } from "../tasks/index.ts";
import { approvalHandlers } from "./approvals/approval-handler.ts";
import { createRunSimulator } from "./comparison/run-simulator.ts";
import { createCompensationRetry } from "./compensation-retry.ts";
import { deadLetterHandlers } from "./dead-letters/dead-letter-handler.ts";
import { createDeadLetterMetrics } from "./dead-letters/dead-letter-metrics.ts";
import { createDeadLetterService } from "./dead-letters/dead-letter-service.ts";
import { openLetters } from "./dead-letters/dead-letter-store.ts";
import { deleteExpiredLettersJob } from "./dead-letters/retention-job.ts";
import { shardCount } from "./domain/run.ts";
import { createChildCancellation } from "./effects/child-cancellation.ts";
import { startChild } from "./effects/child-run.ts";
import { createEffectRunner } from "./effects/effect-runner.ts";
import type { FindExperimentId, FindPoolId } from "./effects/operation-effects.ts";
import { createRegionalEffects } from "./effects/regional-effects.ts";
import { createRunExplainer } from "./explanation/run-explainer.ts";
import { createRunExplanation } from "./explanation/run-explanation.ts";
import { createPlanCache } from "./plan-cache.ts";
import { createReplayService } from "./replay/replay-service.ts";
import { createRunAfterCommit } from "./run-after-commit.ts";
import { createRunChanges } from "./run-changes.ts";
import { createRunEngine } from "./run-engine.ts";
import { createRunEvents } from "./run-events.ts";
import { runHandlers } from "./run-handler.ts";
import { createRunHealth } from "./run-health.ts";
import { createRunMetrics } from "./run-metrics.ts";
import { createRunService } from "./run-service.ts";
import { createRunSignals } from "./run-signals.ts";
import { createRunSweeper } from "./run-sweeper.ts";
import { createRunUpdates } from "./run-updates.ts";
import { createServiceStartedRuns, type TakeQuota } from "./service-started-runs.ts";
import { createSimulation } from "./simulation/simulation-service.ts";
import { createContinuation } from "./start/continuation.ts";
import { createRunStart } from "./start/run-start.ts";
import { createRunStarter } from "./start/run-starter.ts";
import { overdueRuns } from "./storage/due-runs.ts";
import { createTaskReports } from "./task-reports.ts";

export { compileTemplate, type Template } from "./domain/engine/template.ts";
export type { FindExperimentId, FindPoolId } from "./effects/operation-effects.ts";
export { readRunOutcomes } from "./run-outcomes.ts";
export type { ServiceStartOutcome, ServiceStartRequest, TakeQuota } from "./service-started-runs.ts";
export { ownStartRecord } from "./start/run-start.ts";
export { runUsage } from "./usage-source.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares"> {
  readonly metrics: Pick<Metrics, "counter" | "tenantCounter" | "histogram" | "gauge">;
  readonly history: HistoryRecorder;
  readonly events: EventRecorder;
  readonly definitions: Definitions;
  readonly environments: Environments;
  readonly dispatch: TaskDispatch;
  readonly tasksOfRun: Tasks["tasksOfRun"];
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
  readonly findPoolId: FindPoolId;
  readonly findExperimentId: FindExperimentId;
  readonly jobs: Pick<JobRunner, "wake">;
  /** The region of this node. */
  readonly region: string;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
  readonly takeQuota: TakeQuota;
}

export type Runs = ReturnType<typeof createRuns>;

/** How long the runs of a node that died wait for another node. */
const shardLeaseMs = 5000;

export function createRuns(dependencies: Dependencies) {
  const { db, clock, log, signals, definitions } = dependencies;
  const shards = createShards({
    db,
    clock,
    log,
    signals,
    kind: "workflow.runs",
    count: shardCount,
    leaseMs: shardLeaseMs,
  });
  const ageMs = dependencies.retentionDays * 86_400_000;
  const plans = createPlanCache(definitions);
  const metrics = createRunMetrics(dependencies.metrics, dependencies.history);
  const cancellation = createChildCancellation({ db, clock, advance: (request) => engine.advance(request) });
  const afterCommit = createRunAfterCommit({
    ...dependencies,
    sweepBy: (atMs) => sweeper.schedule(atMs),
    performEffects: (run, effects) => effectRunner.perform(run, effects),
    advance: (request) => engine.advance(request),
    cancelChild: cancellation.cancel,
    wakeQueue: dependencies.dispatch.wake,
    metrics,
  });
  const starter = createRunStarter({ ...dependencies, onCommitted: afterCommit.follow });
  const start = createRunStart({ db, definitions, plans, starter });
  const engine = createRunEngine({
    ...dependencies,
    prepareNextRun: createContinuation({ definitions, plans, starter }),
    plans,
    currentShards: shards.currentSql,
    onCommitted: afterCommit.follow,
  });
  const regional = createRegionalEffects({
    ...dependencies,
    perform: (run, effects) => effectRunner.perform(run, effects),
  });
  const effectRunner = createEffectRunner({
    ...dependencies,
    handOver: regional.handOver,
    startChild: (parent, effect) => startChild({ db, clock, start, takeQuota: dependencies.takeQuota }, parent, effect),
    apply: (tenantId: TenantId, runId, event) => engine.advance({ tenantId, runId, toEvent: () => event }),
  });
  const sweeper = createRunSweeper({ db, signals: dependencies.signals, clock, log, shards, engine, metrics });
  const service = createRunService({ ...dependencies, start, engine });
  const replays = createReplayService({ ...dependencies, plans, starter, getRun: service.getRun });
  const explain = createRunExplanation(plans, dependencies.tasksOfRun);
  const letterMetrics = createDeadLetterMetrics(dependencies.metrics);
  const letters = createDeadLetterService({ ...dependencies, replays, metrics: letterMetrics });
  return {
    handlers: runHandlers({
      service,
      signals: createRunSignals({ ...dependencies, runs: service }),
      updateRun: createRunUpdates({ db, runs: service }),
      changeRuns: createRunChanges({ db, engine, ...createRunEvents(engine), replayOpen: letters.replayOpen }),
      replays,
      retryCompensations: createCompensationRetry({
        ...{ ...dependencies, plans, currentShards: shards.currentSql },
        ...{ getRun: service.getRun, onCommitted: afterCommit.follow },
      }),
      explain,
      simulate: createSimulation(dependencies),
      ...{ shares: dependencies.shares, definitions },
    }),
    approvalHandlers: approvalHandlers(service, definitions),
    deadLetterHandlers: deadLetterHandlers(letters),
    jobs: [
      retentionJob(dependencies, {
        ...{ kind: "workflow.maintain_runs", everyMs: 10 * 60_000 },
        rows: [
          { ageMs, partitions: { name: "workflow_run_archive", column: "ended_at" } },
          { ageMs, partitions: { name: "workflow_history", column: "at" } },
        ],
      }),
      ...[deleteExpiredLettersJob(dependencies), cancellation.job, regional.job],
    ],
    sweeper,
    /** The state of runs, for health reports. */
    health: createRunHealth(sweeper),
    backlogs: [overdueRuns, openLetters],
    explainer: createRunExplainer(explain),
    /** Simulates recorded runs with another version of their definition. */
    simulateChange: createRunSimulator({ plans, shares: dependencies.shares }),
    /** Starts a run for a caller. */
    startRun: service.startRun,
    /** Ends the calls that wait for the end of a run, when the node stops. */
    endWaits: service.endWaits,
    ...createServiceStartedRuns({ ...dependencies, start, engine }),
    ...createRunEvents(engine),
    ...createTaskReports(engine),
    /** Resolves when nothing is being written or performed. */
    async idle() {
      await starter.idle();
      await engine.idle();
      await effectRunner.idle();
      await engine.idle();
    },
  };
}
