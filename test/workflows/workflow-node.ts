import { tmpdir } from "node:os";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import {
  DecideWorkflowApprovalRequestSchema,
  type DecideWorkflowApprovalResponse,
} from "../../gen/service/api/workflow_approval_pb.ts";
import {
  CreateWorkflowDefinitionRequestSchema,
  PublishWorkflowDefinitionRequestSchema,
} from "../../gen/service/api/workflow_definition_pb.ts";
import {
  CancelWorkflowRunRequestSchema,
  type CancelWorkflowRunResponse,
  GetWorkflowRunRequestSchema,
  type GetWorkflowRunResponse,
  PauseWorkflowRunRequestSchema,
  type PauseWorkflowRunResponse,
  ResumeWorkflowRunRequestSchema,
  type ResumeWorkflowRunResponse,
  SignalWorkflowRunByKeyRequestSchema,
  type SignalWorkflowRunByKeyResponse,
  SignalWorkflowRunRequestSchema,
  type SignalWorkflowRunResponse,
  StartWorkflowRunRequestSchema,
  type StartWorkflowRunResponse,
} from "../../gen/service/api/workflow_run_pb.ts";
import {
  CompleteWorkflowTasksRequestSchema,
  type CompleteWorkflowTasksResponse,
  FailWorkflowTasksRequestSchema,
  type FailWorkflowTasksResponse,
  PollWorkflowTasksRequestSchema,
  type PollWorkflowTasksResponse,
} from "../../gen/service/api/workflow_task_pb.ts";
import type { OwnCommitHandler, ServiceHandlers } from "../../src/chain/call.ts";
import { createWorkflows } from "../../src/modules/workflows/index.ts";
import type { TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { systemClock } from "../../src/platform/clock/clock.ts";
import { createSignals, createTenantChanges, openDatabase } from "../../src/platform/db/index.ts";
import { createEventLoopScheduler } from "../../src/platform/event-loop/index.ts";
import { createMetrics } from "../../src/platform/telemetry/index.ts";
import { type ContextChoice, contextFor, failsWith, perform, recordedEvents } from "../harness/context.ts";
import { until } from "../harness/until.ts";

/** The workflows area of one node, with calls as the chain makes them. */
export type WorkflowNode = Awaited<ReturnType<typeof startWorkflowNode>>;

/** Starts the area on a database. Background workers are not started: tests call them. */
export async function startWorkflowNode(databaseUrl: string) {
  const db = openDatabase(databaseUrl, { maxConnections: 6 });
  const signals = createSignals(db);
  await signals.start();
  const parts = {
    ...{ db, cacheLoadDb: db, signals, changes: createTenantChanges(db, signals), shares: createEventLoopScheduler() },
    ...{ clock: systemClock, metrics: createMetrics(), history: { count() {} } },
    ...{ log: { warn() {}, info() {}, error() {}, debug() {} }, events: recordedEvents() },
    config: { "workflow.retention_days": 7, "objects.backend": "file", "data.dir": tmpdir() },
    findPools: async () => new Set<string>(),
    findNotificationWorkflows: async () => new Set<string>(),
    findExperiments: async () => new Set<string>(),
    findPoolId: async () => undefined,
    call: () => Promise.reject(new Error("The test has no effects.")),
    takeQuota: async () => undefined,
    eventLogs: { reader: {}, follow: () => ({ start() {}, async stop() {} }) },
    platformTenantId: () => "platform",
  };
  const workflows = createWorkflows(parts as unknown as Parameters<typeof createWorkflows>[0]);
  const handlers = workflows.handlers as unknown as Readonly<Record<string, ServiceHandlers>>;
  const definitions = handlers["service.api.WorkflowDefinitionService"]!;
  const runs = handlers["service.api.WorkflowRunService"]!;
  const approvals = handlers["service.api.WorkflowApprovalService"]!;
  const tasks = handlers["service.api.WorkflowTaskService"]!;
  const ownCommit = <I extends DescMessage, O>(handler: unknown, schema: I) => {
    return (tenant: TestTenant, request: MessageInitShape<I>, caller: Pick<ContextChoice, "subject" | "roles"> = {}) =>
      (handler as OwnCommitHandler).ownCommit(
        contextFor(db, { tenantId: tenant.tenantId, ...caller }),
        create(schema, request),
        undefined,
      ) as Promise<O>;
  };
  const getRun = runs.getWorkflowRun as (context: unknown, request: unknown) => Promise<GetWorkflowRunResponse>;
  return {
    ...{ db, signals, workflows },
    start: ownCommit<typeof StartWorkflowRunRequestSchema, StartWorkflowRunResponse>(
      runs.startWorkflowRun,
      StartWorkflowRunRequestSchema,
    ),
    signal: ownCommit<typeof SignalWorkflowRunRequestSchema, SignalWorkflowRunResponse>(
      runs.signalWorkflowRun,
      SignalWorkflowRunRequestSchema,
    ),
    signalByKey: ownCommit<typeof SignalWorkflowRunByKeyRequestSchema, SignalWorkflowRunByKeyResponse>(
      runs.signalWorkflowRunByKey,
      SignalWorkflowRunByKeyRequestSchema,
    ),
    decide: ownCommit<typeof DecideWorkflowApprovalRequestSchema, DecideWorkflowApprovalResponse>(
      approvals.decideWorkflowApproval,
      DecideWorkflowApprovalRequestSchema,
    ),
    pause: ownCommit<typeof PauseWorkflowRunRequestSchema, PauseWorkflowRunResponse>(
      runs.pauseWorkflowRun,
      PauseWorkflowRunRequestSchema,
    ),
    resume: ownCommit<typeof ResumeWorkflowRunRequestSchema, ResumeWorkflowRunResponse>(
      runs.resumeWorkflowRun,
      ResumeWorkflowRunRequestSchema,
    ),
    cancel: ownCommit<typeof CancelWorkflowRunRequestSchema, CancelWorkflowRunResponse>(
      runs.cancelWorkflowRun,
      CancelWorkflowRunRequestSchema,
    ),
    fail: ownCommit<typeof FailWorkflowTasksRequestSchema, FailWorkflowTasksResponse>(
      tasks.failWorkflowTasks,
      FailWorkflowTasksRequestSchema,
    ),
    poll: ownCommit<typeof PollWorkflowTasksRequestSchema, PollWorkflowTasksResponse>(
      tasks.pollWorkflowTasks,
      PollWorkflowTasksRequestSchema,
    ),
    complete: ownCommit<typeof CompleteWorkflowTasksRequestSchema, CompleteWorkflowTasksResponse>(
      tasks.completeWorkflowTasks,
      CompleteWorkflowTasksRequestSchema,
    ),
    async get({ tenantId }: TestTenant, runId: string, waitS = 0, caller: ContextChoice = {}) {
      const request = create(GetWorkflowRunRequestSchema, { runId, waitS });
      return (await getRun(contextFor(db, { tenantId, ...caller }), request)).run!;
    },
    /** Creates and publishes a definition. */
    async publish({ tenantId }: TestTenant, document: { readonly key: string; readonly [name: string]: unknown }) {
      const choice = { tenantId };
      const created = { document: document as never };
      await perform(db, choice, definitions.createWorkflowDefinition!, CreateWorkflowDefinitionRequestSchema, created);
      const published = { id: document.key };
      await perform(
        db,
        choice,
        definitions.publishWorkflowDefinition!,
        PublishWorkflowDefinitionRequestSchema,
        published,
      );
    },
    /** Ends the attempts whose leases have expired. */
    async sweepLeases() {
      for (const worker of workflows.workers) if ("sweep" in worker) await (worker.sweep as () => Promise<unknown>)();
    },
    async stop() {
      workflows.endWaits();
      await workflows.idle();
      await signals.stop();
      await db.close();
    },
  };
}

/** Repeats a call that is refused because the run changes too often. */
export async function patiently<T extends object>(call: () => Promise<T>): Promise<T> {
  const response = await until(() =>
    call().catch((error) => {
      if (!failsWith("UNAVAILABLE")(error)) throw error;
    }),
  );
  return response!;
}
