import type { Json } from "../../../../definitions/index.ts";
import { type Execution, isCompensation, stepError } from "../execution.ts";
import { type Failure, isAttemptOpen } from "../state.ts";
import { recorded } from "../state-room.ts";
import type { StepKey } from "../step-key.ts";
import { cancelChildRun, cancelInside } from "./external-work.ts";
import { retryDelay } from "./retry-policy.ts";
import { completeStep, failStep } from "./step-end.ts";

/** Applies the result of an attempt. */
export function completeAttempt(execution: Execution, key: StepKey, attempt: number, output: Json): void {
  if (isAttemptOpen(execution.state, key, attempt)) completeStep(execution, key, output);
}

/** Applies the failure of an attempt: another attempt follows, or the step fails. */
export function failAttempt(execution: Execution, key: StepKey, attempt: number, failure: Failure): void {
  if (!isAttemptOpen(execution.state, key, attempt)) return;
  const activity = execution.state.active[key]!;
  const earlier = activity.s === "effect" ? (activity.earlier ?? 0) : 0;
  const delayMs = retryDelay(execution.unitOf(key).retry, attempt - earlier, failure);
  const { code, message, details } = failure;
  if (delayMs === undefined) {
    failStep(execution, key, stepError(key, code, message, details));
    return;
  }
  execution.size.recordedBytes += message.length;
  const error = { code, message, details: recorded(execution, details) };
  execution.history.push({ kind: "attempt_failed", step: key, attempt, error, delay_ms: delayMs });
  if (activity.s === "task") {
    activity.attempt++;
    execution.retriedTasks.push({ taskId: activity.taskId, attempt: activity.attempt, delayMs });
  } else if (activity.s === "effect") {
    activity.phase = "backoff";
    activity.dueMs = execution.context.nowMs + delayMs;
  }
}

/** Fails a step whose total time is over, whatever it does. */
export function timeOutStep(execution: Execution, key: StepKey): void {
  cancelChildRun(execution, execution.state.active[key]);
  if (!isCompensation(key)) {
    const { step, positions } = execution.stepOf(key);
    cancelInside(execution, step, positions);
  }
  failStep(execution, key, stepError(key, "timeout", "The step took longer than its total time-out."));
}
