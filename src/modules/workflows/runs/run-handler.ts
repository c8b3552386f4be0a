import { create } from "@bufbuild/protobuf";
import {
  type ApplyWorkflowRunUpdateRequest,
  ApplyWorkflowRunUpdateResponseSchema,
  type CancelWorkflowRunRequest,
  CancelWorkflowRunResponseSchema,
  type ChangeWorkflowRunsRequest,
  ChangeWorkflowRunsResponseSchema,
  type CompensateWorkflowRunRequest,
  CompensateWorkflowRunResponseSchema,
  type PauseWorkflowRunRequest,
  PauseWorkflowRunResponseSchema,
  RefusedRunChangeSchema,
  type ReplayWorkflowRunRequest,
  ReplayWorkflowRunResponseSchema,
  type ResumeWorkflowRunRequest,
  ResumeWorkflowRunResponseSchema,
  type WorkflowRunService as Rpc,
  type SignalWorkflowRunByKeyRequest,
  SignalWorkflowRunByKeyResponseSchema,
  type SignalWorkflowRunRequest,
  SignalWorkflowRunResponseSchema,
  type StartSignal,
  type StartWorkflowRunRequest,
  StartWorkflowRunResponseSchema,
} from "../../../../gen/service/api/workflow_run_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { environmentIdOf, productionOf, requireEnvironmentId } from "../../../platform/access/index.ts";
import { runInSlices } from "../../../platform/event-loop/index.ts";
import { jsonToValue, valueToJson } from "../../../platform/protojson/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Definitions } from "../definitions/index.ts";
import type { RetryCompensations } from "./compensation-retry.ts";
import type { Run, RunStatus } from "./domain/run.ts";
import type { ExplainRun } from "./explanation/run-explanation.ts";
import { fromReplayPlan, toReplayInput } from "./replay/replay-message.ts";
import type { ReplayService } from "./replay/replay-service.ts";
import type { ChangeRuns, RunChange } from "./run-changes.ts";
import { fromRun } from "./run-message.ts";
import { cancelBy, pauseBy, type RunService, resumeBy } from "./run-service.ts";
import type { RunSignals, Signal } from "./run-signals.ts";
import type { UpdateRun } from "./run-updates.ts";
import { fromSimulation, toSimulationRequest } from "./simulation/simulation-message.ts";
import type { SimulateRun } from "./simulation/simulation-service.ts";
import { runStore } from "./storage/run-store.ts";

interface Dependencies extends Pick<PlatformServices, "shares"> {
  readonly service: RunService;
  readonly signals: RunSignals;
  readonly updateRun: UpdateRun;
  readonly changeRuns: ChangeRuns;
  readonly replays: ReplayService;
  readonly retryCompensations: RetryCompensations;
  readonly explain: ExplainRun;
  readonly simulate: SimulateRun;
  readonly definitions: Pick<Definitions, "idOf" | "requireId">;
}

/** The operations of WorkflowRunService. */
export function runHandlers({
  service,
  signals,
  updateRun,
  changeRuns,
  replays,
  retryCompensations,
  explain,
  simulate,
  shares,
  definitions,
}: Dependencies): Handlers<typeof Rpc> {
  return {
    startWorkflowRun: {
      async ownCommit(context: Context, request: StartWorkflowRunRequest, keyed) {
        const input = {
          definition: request.definition,
          version: request.version || undefined,
          environmentId: request.environmentId,
          input: valueToJson(request.input),
          runKey: request.runKey,
          startAtMs: request.startAt && dateOf(request.startAt).getTime(),
          ...(Object.keys(request.attributes).length > 0 && { origin: { attributes: request.attributes } }),
        };
        let open: Run | undefined;
        const toResponse = (run: Run, started: boolean, eventId = "") => {
          open = run;
          return create(StartWorkflowRunResponseSchema, { run: fromRun(run), started, eventId });
        };
        const response =
          request.signal === undefined
            ? await service.startRun(context, input, keyed, toResponse)
            : await signals.startWithSignal(context, input, toSignal(request.signal), keyed, toResponse);
        if (response === "duplicate" || request.waitS === 0 || open === undefined) return response;
        const run = await service.waitForEnd(context, open, request.waitS * 1000);
        return create(StartWorkflowRunResponseSchema, { ...response, run: fromRun(run) });
      },
    },

    async getWorkflowRun(context, { runId, waitS }) {
      const run = await service.getRun(context, runId);
      const current = waitS === 0 ? run : await service.waitForEnd(context, run, waitS * 1000);
      return { run: fromRun(current) };
    },

    async listWorkflowRuns(context, request) {
      const { tenantId, sql, principal } = context;
      const { runKey, parentRunId } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionId = await definitions.idOf(tenantId, request.definitionId);
      const status = request.status as RunStatus | "";
      const inProduction = productionOf(principal);
      const attributes = toAttributes(request.attributes);
      const filter = { definitionId, status, environmentId, runKey, parentRunId, inProduction, attributes };
      const page = await context.page("runs", request, Object.values(filter), (wanted) =>
        runStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, runs: page.runs.map((run) => fromRun(run, "summary")) };
    },

    cancelWorkflowRun: {
      ownCommit: (context: Context, { runId, reason, compensate }: CancelWorkflowRunRequest, keyed) =>
        service.change(context, runId, keyed, cancelBy(context, reason, compensate), (run) =>
          create(CancelWorkflowRunResponseSchema, { run: fromRun(run) }),
        ),
    },

    pauseWorkflowRun: {
      ownCommit: (context: Context, { runId, reason }: PauseWorkflowRunRequest, keyed) =>
        service.change(context, runId, keyed, pauseBy(context, reason), (run) =>
          create(PauseWorkflowRunResponseSchema, { run: fromRun(run) }),
        ),
    },

    compensateWorkflowRun: {
      ownCommit: (context: Context, request: CompensateWorkflowRunRequest, keyed) =>
        retryCompensations(context, request.runId, request, keyed, (run) =>
          create(CompensateWorkflowRunResponseSchema, { run: fromRun(run) }),
        ),
    },

    resumeWorkflowRun: {
      ownCommit: (context: Context, { runId }: ResumeWorkflowRunRequest, keyed) =>
        service.change(context, runId, keyed, resumeBy(context), (run) =>
          create(ResumeWorkflowRunResponseSchema, { run: fromRun(run) }),
        ),
    },

    signalWorkflowRun: {
      ownCommit(context: Context, request: SignalWorkflowRunRequest, keyed) {
        return signals.signalRun(context, request.runId, toSignal(request), keyed, (eventId, duplicate) =>
          create(SignalWorkflowRunResponseSchema, { eventId, duplicate }),
        );
      },
    },

    signalWorkflowRunByKey: {
      ownCommit(context: Context, request: SignalWorkflowRunByKeyRequest, keyed) {
        return signals.signalRunByKey(context, request, toSignal(request), keyed, (runId, eventId, duplicate) =>
          create(SignalWorkflowRunByKeyResponseSchema, { runId, eventId, duplicate }),
        );
      },
    },

    applyWorkflowRunUpdate: {
      ownCommit(context: Context, request: ApplyWorkflowRunUpdateRequest, keyed) {
        const { runId, name: event, scope, updateId: eventId, waitS } = request;
        const update = { event, scope, eventId, payload: valueToJson(request.payload) };
        return updateRun(context, runId, update, waitS * 1000, keyed, ({ answer, ...applied }) =>
          create(ApplyWorkflowRunUpdateResponseSchema, {
            ...{ ...applied, answered: answer !== undefined },
            ...(answer !== undefined && { answer: jsonToValue(answer) }),
          }),
        );
      },
    },

    changeWorkflowRuns: {
      async ownCommit(context: Context, request: ChangeWorkflowRunsRequest, keyed) {
        const environmentId = await requireEnvironmentId(context, request.environmentId);
        const definitionId = await definitions.requireId(context.tenantId, request.definitionId);
        const { version, maxItems, after, createdBefore } = request;
        const input = {
          ...{ change: toChange(request), definitionId, environmentId, version, maxItems, after },
          ...{ status: request.status as RunStatus | "", createdBefore: createdBefore && dateOf(createdBefore) },
          attributes: toAttributes(request.attributes),
        };
        return changeRuns(context, input, keyed, ({ changed, unchanged, refused, next }) =>
          create(ChangeWorkflowRunsResponseSchema, {
            ...{ changedCount: changed, unchangedCount: unchanged, next },
            refused: refused.map((each) => create(RefusedRunChangeSchema, each)),
          }),
        );
      },
    },

    replayWorkflowRun: {
      ownCommit: (context: Context, request: ReplayWorkflowRunRequest, keyed) =>
        replays.replayRun(context, request.runId, toReplayInput(request), request.dryRun, keyed, (planned, run) =>
          create(ReplayWorkflowRunResponseSchema, {
            ...(run !== undefined && { run: fromRun(run) }),
            plan: fromReplayPlan(planned),
          }),
        ),
    },

    async getWorkflowRunHistory(context, request) {
      const { tenantId, sql } = context;
      const run = await service.getRun(context, request.runId);
      return context.page(
        "advances",
        request,
        [run.id],
        (wanted) => runStore(sql).history(tenantId, run, wanted),
        ({ revision }) => String(revision),
      );
    },

    async explainWorkflowRun(context, { runId }) {
      return { explanation: { runId, ...(await explain(context, await service.getRun(context, runId))) } };
    },

    async simulateWorkflowRun(context, request) {
      const slices = shares.forCall(context.tenantId);
      const simulated = await simulate(context, toSimulationRequest(request), slices);
      return { simulation: await runInSlices(fromSimulation(simulated), slices, context.signal) };
    },
  };
}

function toChange(request: ChangeWorkflowRunsRequest): RunChange {
  const { action, reason, compensate, signal, replay } = request;
  switch (action) {
    case "cancel":
      return { kind: "cancel", reason, compensate };
    case "pause":
      return { kind: "pause", reason };
    case "resume":
      return { kind: "resume" };
    case "replay":
      return {
        ...{ kind: "replay", version: replay?.version ?? 0, reason },
        from: replay?.from === "start" ? "start" : "failed_step",
      };
    default:
      if (signal === undefined) throw invalid("signal", "required", "is required for the action signal");
      return { kind: "signal", signal: toSignal(signal) };
  }
}

/** The attributes of a filter, as JSON; empty for none. */
function toAttributes(pairs: readonly string[]): string {
  if (pairs.length === 0) return "";
  const attributes = new Map(pairs.map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
  if (attributes.size < pairs.length) throw invalid("attributes", "unique", "must name each attribute once");
  return JSON.stringify(Object.fromEntries(attributes));
}

/** The event of a request. */
function toSignal({ event, scope, eventId, payload }: Omit<StartSignal, "$typeName">): Signal {
  return { event, scope, eventId, payload: valueToJson(payload) };
}
