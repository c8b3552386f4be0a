import type { Json } from "../../../../definitions/index.ts";
import { type Execution, isCompensation, noteApproval } from "../execution.ts";
import { isEffectKind, type PlanStep, type PlanUnit } from "../plan.ts";
import type { Activity } from "../state.ts";
import type { Positions, StepKey } from "../step-key.ts";

const defaultAttemptMs = 5 * 60_000;
/** How long an open effect may take before it is performed again. It doubles each time. */
const firstRecheckMs = 5000;
const recheckMsMax = 3_600_000;

/** The times of a step that starts now. */
export function timesOf({ context }: Execution, { timeout }: PlanUnit): { sinceMs: number; totalMs?: number } {
  const { nowMs } = context;
  return timeout.totalMs === undefined ? { sinceMs: nowMs } : { sinceMs: nowMs, totalMs: nowMs + timeout.totalMs };
}

/** Starts a task or an effect: a step, or a compensation. A retried one may start with a later attempt. */
export function startExternalWork(
  execution: Execution,
  unit: PlanUnit,
  key: StepKey,
  request: Json,
  attempt = 1,
): void {
  const { state, context, history, newTasks } = execution;
  const { work, timeout } = unit;
  const times = timesOf(execution, unit);
  history.push({ kind: "step_started", step: key });
  if (work.kind === "task") {
    const taskId = context.newId();
    state.active[key] = { s: "task", ...times, taskId, attempt: 1, ...(isCompensation(key) && { request }) };
    const { queue, type, version } = work;
    const { attemptMs = defaultAttemptMs, heartbeatMs = 0 } = timeout;
    newTasks.push({ taskId, key, queue, type, version, input: request, attemptMs, heartbeatMs });
    return;
  }
  const activity = {
    ...{ s: "effect" as const, ...times, request, phase: "open" as const, recheckMs: firstRecheckMs },
    ...{ attempt, ...(attempt > 1 && { earlier: attempt - 1 }) },
    ...(work.kind === "subworkflow" && { childId: context.newId() }),
  };
  state.active[key] = activity;
  performEffect(execution, key, activity);
}

/** Performs an effect whose time has come: for the next attempt, or again because its result did not arrive. */
export function continueEffect(execution: Execution, key: StepKey, activity: Activity & { s: "effect" }): void {
  if (activity.phase === "backoff") {
    activity.phase = "open";
    activity.attempt++;
    activity.recheckMs = firstRecheckMs;
    if (activity.childId !== undefined) activity.childId = execution.context.newId();
  }
  performEffect(execution, key, activity);
}

/** Has an effect performed after the commit, and again later if its result does not arrive. */
function performEffect(execution: Execution, key: StepKey, activity: Activity & { s: "effect" }): void {
  const { kind } = execution.unitOf(key).work;
  if (!isEffectKind(kind)) return;
  const { attempt, request, childId } = activity;
  activity.dueMs = execution.context.nowMs + activity.recheckMs;
  activity.recheckMs = Math.min(activity.recheckMs * 2, recheckMsMax);
  execution.effects.push({ key, attempt, kind, request, childId });
}

/** Removes a step from those in progress, with its task. */
export function closeStep(execution: Execution, key: StepKey): Activity | undefined {
  const { state, endedTasks } = execution;
  const activity = state.active[key];
  if (activity === undefined) return undefined;
  if (activity.s === "task") endedTasks.push(activity.taskId);
  else if (activity.s === "approval") noteApproval(execution, key);
  delete state.active[key];
  return activity;
}

/** Cancels a step in progress, with its task or the run that it waits for. */
export function cancelStep(execution: Execution, key: StepKey): void {
  cancelChildRun(execution, execution.state.active[key]);
  closeStep(execution, key);
  execution.history.push({ kind: "step_cancelled", step: key });
}

/** Cancels the run that a step waits for. */
export function cancelChildRun({ cancelledRuns }: Execution, activity: Activity | undefined): void {
  if (activity?.s === "effect" && activity.childId !== undefined) cancelledRuns.push(activity.childId);
}

/** Cancels everything inside a block, and deletes the outputs inside it. */
export function cancelInside(execution: Execution, block: PlanStep, at: Positions): void {
  const isInside = (key: StepKey) => {
    const { step, positions } = execution.stepOf(key);
    return step.ancestors.includes(block) && at.every((position, nth) => positions[nth] === position);
  };
  const { active, values } = execution.state;
  for (const key of Object.keys(active)) if (isInside(key)) cancelStep(execution, key);
  for (const key of Object.keys(values)) if (isInside(key)) delete values[key];
}
