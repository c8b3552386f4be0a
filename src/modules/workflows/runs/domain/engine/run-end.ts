import { CelError } from "../../../../../platform/cel/index.ts";
import type { Json } from "../../../definitions/index.ts";
import type { RunEnd } from "./advance-result.ts";
import { evaluateRunOutput, expressionFailure } from "./evaluation.ts";
import { type Execution, runError } from "./execution.ts";
import { bytesOf, stateBytesMax, stateTooLarge } from "./size-limits.ts";
import { type Ending, type FailedCompensation, type RunError, type RunEvent, type RunState, undoOf } from "./state.ts";
import { recorded } from "./state-room.ts";
import type { StepKey } from "./step-key.ts";
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

/** How soon after its start a run may be continued: a run that continues itself at once must not take all the time of a node. */
const runMsMin = 1000;

/** Ends a run whose work another run continues with a new input. */
export function continueAsNew(execution: Execution, key: StepKey, input: Json): void {
  const { state, context, history, stack } = execution;
  // The blocks around the step are over.
  for (const each of Object.keys(state.active)) delete state.active[each];
  stack.length = 0;
  state.undo.length = 0;
  history.push({ kind: "step_completed", step: key, output: recorded(execution, input) });
  state.nextRunId = context.newId();
  const startAtMs = Math.max(context.nowMs, state.startedAtMs + runMsMin);
  endRun(execution, {
    status: "succeeded",
    output: input,
    error: undefined,
    next: { id: state.nextRunId, input, startAtMs },
  });
}

/** Ends a run with an error, after its compensations if the definition says so. */
export function failRun(execution: Execution, status: Unsuccessful, error: RunError): void {
  stopRun(execution, status, error, execution.plan.onFailure === "compensate");
}

/** Cancels all steps in progress, compensates completed ones if wanted, and ends the run. */
export function stopRun(execution: Execution, status: Unsuccessful, error: RunError, compensate: boolean): void {
  const { state, stack } = execution;
  const { ending } = state;
  if (ending?.retried) keepRetries(state, ending, error);
  for (const key of Object.keys(state.active)) cancelStep(execution, key);
  stack.length = 0;
  // A run that had ended before ends as it did then.
  state.ending = ending?.retried ? ending : { status, error, failures: ending?.failures ?? [] };
  if (!compensate) state.undo.length = 0;
  compensateNext(execution);
}

/** Retries failed compensations of a run that had ended. The run ends again after them. */
export function retryCompensations(
  execution: Execution,
  { by, reason, steps }: RunEvent & { readonly kind: "retry_compensations" },
): void {
  const { state, history } = execution;
  const ending = state.ending!;
  history.push({ kind: "compensations_retried", by, reason, steps });
  const isRetried = ({ undo }: FailedCompensation) => steps.includes(undo.key.slice(1));
  // They failed in the order in which they were performed, and the last one starts first.
  state.undo.push(
    ...ending.failures
      .filter(isRetried)
      .map(({ undo }) => undo)
      .reverse(),
  );
  ending.failures = ending.failures.filter((failure) => !isRetried(failure));
  ending.retried = true;
  compensateNext(execution);
}

/** Notes retries that do not go on as failed, so that they can be retried again. */
function keepRetries({ active, undo }: RunState, ending: Ending, error: RunError): void {
  const stopped = Object.entries(active).map(([key, activity]) => undoOf(key, activity));
  for (const each of [...stopped, ...undo.toReversed()]) ending.failures.push({ undo: each, error });
}

/** Starts the compensation of the step that completed last, or ends the run. */
export function compensateNext(execution: Execution): void {
  const { state } = execution;
  const undo = state.undo.pop();
  if (undo !== undefined) {
    startExternalWork(execution, execution.unitOf(undo.key), undo.key, undo.request, undo.attempt);
    return;
  }
  const { status, error, failures } = state.ending!;
  const failed = failures.map((failure) => failure.error) as unknown as Json;
  const details = failures.length === 0 ? error.details : { cause: error.details, failed_compensations: failed };
  endRun(execution, { status, output: null, error: { ...error, details } });
}

function endRun(execution: Execution, end: RunEnd): void {
  execution.ended = end;
  const { status, error, next } = end;
  execution.history.push({
    ...{ kind: "run_ended", status, ...(error !== undefined && { error }) },
    ...(next !== undefined && { next_run_id: next.id }),
  });
}
