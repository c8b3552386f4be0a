import { CelError } from "../../../../../platform/cel/index.ts";
import type { Json } from "../../../definitions/index.ts";
import type { RunEnd } from "./advance-result.ts";
import { evaluateRunOutput, expressionFailure } from "./evaluation.ts";
import { type Execution, runError } from "./execution.ts";
import { bytesOf, stateBytesMax, stateTooLarge } from "./size-limits.ts";
import type { RunError } from "./state.ts";
import { cancelStep, startExternalWork } from "./steps/external-work.ts";

type Unsuccessful = Exclude<RunEnd["status"], "succeeded">;

/** Ends a run whose last step has completed. */
export function completeRun(execution: Execution, lastOutput: Json): void {
  const { output: template } = execution.plan;
  let output = lastOutput;
  if (template !== undefined) {
    try {
      output = evaluateRunOutput(execution, template);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const { code, message } = expressionFailure(error);
      failRun(execution, "failed", runError(code, message));
      return;
    }
    if (bytesOf(output) > stateBytesMax) {
      failRun(execution, "failed", stateTooLarge());
      return;
    }
  }
  endRun(execution, { status: "succeeded", output, error: undefined });
}

/** Ends a run with an error, after its compensations if the definition says so. */
export function failRun(execution: Execution, status: Unsuccessful, error: RunError): void {
  stopRun(execution, status, error, execution.plan.onFailure === "compensate");
}

/** Cancels all steps in progress, compensates completed ones if wanted, and ends the run. */
export function stopRun(execution: Execution, status: Unsuccessful, error: RunError, compensate: boolean): void {
  const { state, stack } = execution;
  for (const key of Object.keys(state.active)) cancelStep(execution, key);
  stack.length = 0;
  state.ending = { status, error, failures: state.ending?.failures ?? [] };
  if (!compensate) state.undo.length = 0;
  compensateNext(execution);
}

/** Starts the compensation of the step that completed last, or ends the run. */
export function compensateNext(execution: Execution): void {
  const { state } = execution;
  const undo = state.undo.pop();
  if (undo !== undefined) {
    startExternalWork(execution, execution.unitOf(undo.key), undo.key, undo.request);
    return;
  }
  const { status, error, failures } = state.ending!;
  const details =
    failures.length === 0 ? error.details : { cause: error.details, failed_compensations: failures as unknown as Json };
  endRun(execution, { status, output: null, error: { ...error, details } });
}

function endRun(execution: Execution, end: RunEnd): void {
  execution.ended = end;
  const { status, error } = end;
  execution.history.push({ kind: "run_ended", status, ...(error !== undefined && { error }) });
}
