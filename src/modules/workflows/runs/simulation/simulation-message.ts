import type {
  SimulateWorkflowRunRequest,
  SimulatedWorkflowStep as StepMessage,
  WorkflowStepStub,
  WorkflowStubOutcome,
} from "../../../../../gen/service/api/workflow_run_pb.ts";
import { jsonToValue, valueToJson } from "../../../../platform/protojson/index.ts";
import type { JsonObject } from "../../definitions/index.ts";
import { fromError } from "../run-message.ts";
import type { SimulatedStep, Simulation, StepStub, StubOutcome } from "./simulation.ts";
import type { SimulationRequest } from "./simulation-service.ts";

export function toSimulationRequest(request: SimulateWorkflowRunRequest): SimulationRequest {
  return {
    definition: request.definition,
    version: request.version || undefined,
    document: request.document as JsonObject | undefined,
    environmentId: request.environmentId,
    input: valueToJson(request.input),
    stubs: new Map(Object.entries(request.stubs).map(([name, stub]) => [name, toStub(stub)])),
    events: request.events.map(({ event, scope, payload, afterS }) => ({
      ...{ event, scope, payload: valueToJson(payload), afterMs: toMs(afterS) },
    })),
    decisions: request.decisions.map(({ step, by, roles, approved, comment, afterS }) => ({
      ...{ step, by, roles, approved, comment, afterMs: toMs(afterS) },
    })),
    timeMsMax: request.maxTimeS === 0 ? Number.POSITIVE_INFINITY : toMs(request.maxTimeS),
  };
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}

function toStub({ output, error, outputs, afterS }: WorkflowStepStub): StepStub {
  const outcomes = outputs.length > 0 ? outputs : [{ output, error }];
  return { outcomes: outcomes.map(toOutcome), afterMs: toMs(afterS) };
}

function toOutcome({ output, error }: Pick<WorkflowStubOutcome, "output" | "error">): StubOutcome {
  if (error === undefined) return { output: output === undefined ? {} : valueToJson(output) };
  const { code, message, notRetryable } = error;
  return { code, message, retryable: !notRetryable };
}

/** Converts the result. Yields after each step of the path, which can have thousands of them. */
export function* fromSimulation({ status, output, error, durationMs, stoppedBy, ...simulation }: Simulation) {
  const path: StepMessage[] = [];
  for (const step of simulation.path) {
    path.push(fromStep(step));
    yield;
  }
  return {
    ...{ ...simulation, status, path, durationS: durationMs / 1000, stoppedBy: stoppedBy ?? "" },
    output: status === "succeeded" ? output : undefined,
    error: error && fromError(error),
  };
}

/** A message is written as a literal: creating it from its schema takes several times as long. */
function fromStep(simulated: SimulatedStep): StepMessage {
  const { input, output, error, startedMs, endedMs, isDefault, ...step } = simulated;
  return {
    $typeName: "service.api.SimulatedWorkflowStep",
    ...{ ...step, startedS: startedMs / 1000, endedS: endedMs / 1000, defaultOutput: isDefault },
    ...(input !== undefined && { input: jsonToValue(input) }),
    ...(output !== undefined && { output: jsonToValue(output) }),
    ...(error !== undefined && { error: fromError(error) }),
  };
}
