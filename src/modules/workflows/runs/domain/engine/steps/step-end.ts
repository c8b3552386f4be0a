import { CelError } from "../../../../../../platform/cel/index.ts";
import type { Json } from "../../../../definitions/index.ts";
import { evaluateWithOutput, expressionFailure } from "../evaluation.ts";
import { type Execution, isCompensation, stepError } from "../execution.ts";
import type { ListOwner, PlanList, PlanStep } from "../plan.ts";
import { compensateNext, completeRun, failRun } from "../run-end.ts";
import { bytesOf, stateTooLargeMessage } from "../size-limits.ts";
import { type RunError, undoOf } from "../state.ts";
import { recorded, roomFor } from "../state-room.ts";
import { type Positions, type StepKey, stepKey } from "../step-key.ts";
import { cancelInside, closeStep } from "./external-work.ts";

/** Starts the first step of a list. A list without steps completes immediately. */
export function startList(execution: Execution, list: PlanList, at: Positions): void {
  const [first] = list.steps;
  if (first !== undefined) execution.stack.push({ id: first.id, at });
  else completeList(execution, list, at, null);
}

/** Completes a step or a compensation: what follows it in its list starts, or the list completes. */
export function completeStep(execution: Execution, key: StepKey, output: Json): void {
  const { state, history, stack } = execution;
  if (isCompensation(key)) {
    closeStep(execution, key);
    history.push({ kind: "step_completed", step: key, output: recorded(execution, output) });
    compensateNext(execution);
    return;
  }
  const { step, positions } = execution.stepOf(key);
  state.values[key] = output;
  // A step whose error was caught has nothing to undo.
  const isUndoable = step.compensate !== undefined && state.active[key]?.s !== "catch";
  if (isUndoable && !registerCompensation(execution, step, key, positions)) return;
  // A replay needs the request of the compensation as it was at this moment.
  const undo = isUndoable ? { undo: state.undo.at(-1)!.request } : {};
  const bytes = roomFor(execution, [output, ...Object.values(undo)], key);
  if (bytes === undefined) {
    delete state.values[key];
    if (isUndoable) state.undo.pop();
    failTooLarge(execution, key);
    return;
  }
  execution.size.recordedBytes += bytes;
  closeStep(execution, key);
  history.push({ kind: "step_completed", step: key, output, ...undo });
  const following = step.list.steps[step.position + 1];
  if (following !== undefined) stack.push({ id: following.id, at: positions });
  else completeList(execution, step.list, positions, output);
}

/** Fails a step because the state of the run has no room for its values. */
export function failTooLarge(execution: Execution, key: StepKey): void {
  failStep(execution, key, stepError(key, "state_too_large", stateTooLargeMessage));
}

/** Completes a step that a replay has reconstructed, unless its block is over. */
export function completeReplayedStep(execution: Execution, key: StepKey, output: Json): void {
  if (key in execution.state.active) completeStep(execution, key, output);
}

/** Completes a run whose steps have all completed before. */
export function completeRoot(execution: Execution): void {
  const { plan, state } = execution;
  const last = plan.root.steps.at(-1);
  completeList(execution, plan.root, [], (last && state.values[last.id]) ?? null);
}

/** Stores the compensation of a step. False if its request cannot be evaluated: then the step has failed. */
function registerCompensation(execution: Execution, step: PlanStep, key: StepKey, at: Positions): boolean {
  const { work } = step.compensate!;
  if (!("request" in work)) return true;
  const { state } = execution;
  try {
    state.undo.push({ key: `~${key}`, request: evaluateWithOutput(execution, work.request, step, at) });
    return true;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    delete state.values[key];
    const { code, message } = expressionFailure(error);
    failStep(execution, key, stepError(key, code, message));
    return false;
  }
}

function completeList(execution: Execution, list: PlanList, at: Positions, output: Json): void {
  deleteOutputs(execution, list, at);
  const { owner } = list;
  if (owner.kind === "run") {
    completeRun(execution, output);
    return;
  }
  const key = blockKey(owner.step, at);
  if (isConcurrent(owner)) settleBranch(execution, owner, key, at, { ok: true, value: output });
  else completeStep(execution, key, output);
}

/** Fails a step finally: its catch runs, or the block around it fails. */
export function failStep(execution: Execution, key: StepKey, error: RunError): void {
  const { state, history, context } = execution;
  const activity = closeStep(execution, key);
  const { code, message, details } = error;
  // The error is recorded, and held while a catch handles it.
  const errorBytes = bytesOf({ message, details });
  execution.size.recordedBytes += errorBytes;
  execution.size.heldBytes += errorBytes;
  history.push({ kind: "step_failed", step: key, error: { code, message, details, step: error.step } });
  if (isCompensation(key)) {
    state.ending!.failures.push({ undo: undoOf(key, activity, code), error });
    compensateNext(execution);
    return;
  }
  const { step, positions } = execution.stepOf(key);
  // An error in the steps of a catch is not caught by the same step.
  const caught = activity?.s === "catch" ? undefined : step.catches.find(({ on }) => on.has(code) || on.has("*"));
  if (caught === undefined) {
    failList(execution, step.list, positions, error);
    return;
  }
  state.active[key] = { s: "catch", sinceMs: context.nowMs, err: error };
  startList(execution, caught.list, positions);
}

function failList(execution: Execution, list: PlanList, at: Positions, error: RunError): void {
  deleteOutputs(execution, list, at);
  const { owner } = list;
  if (owner.kind === "run") {
    failRun(execution, "failed", error);
    return;
  }
  const { step } = owner;
  const key = blockKey(step, at);
  if (isConcurrent(owner)) {
    if (collectsErrors(step)) {
      const { code, message } = error;
      settleBranch(execution, owner, key, at, { ok: false, error: { code, message } });
      return;
    }
    cancelInside(execution, step, at.slice(0, step.depth));
  }
  failStep(execution, key, error);
}

type ConcurrentOwner = ListOwner & { readonly kind: "parallel" | "map" };

type BranchResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: Json };

/** Records the result of a branch of a parallel or an element of a map. */
function settleBranch(
  execution: Execution,
  owner: ConcurrentOwner,
  key: StepKey,
  at: Positions,
  result: BranchResult,
): void {
  const { step } = owner;
  const activity = execution.state.active[key];
  const value: Json = collectsErrors(step) ? result : result.ok ? result.value : null;
  if (owner.kind === "parallel" && activity?.s === "parallel") {
    activity.results[owner.name] = value;
    if (--activity.open > 0 || step.work.kind !== "parallel") return;
    // In the order of the definition, not of completion.
    const names = [...step.work.branches.keys()];
    completeStep(execution, key, Object.fromEntries(names.map((name) => [name, activity.results[name]!])));
    return;
  }
  if (owner.kind === "map" && activity?.s === "map") {
    activity.results[at[step.depth]!] = value;
    activity.open--;
    continueMapLater(execution, key);
  }
}

/** Has a map start its next element, or complete. */
export function continueMapLater({ stack }: Execution, key: StepKey): void {
  const next = stack.at(-1);
  // Elements that complete immediately must not fill the stack, which is part of the state of a run.
  if (next === undefined || !("map" in next) || next.map !== key) stack.push({ map: key });
}

/** Deletes the outputs of a list that is over: nothing outside of it may read them. */
function deleteOutputs({ state }: Execution, list: PlanList, at: Positions): void {
  if (list.owner.kind === "run") return;
  for (const { id } of list.steps) delete state.values[stepKey(id, at)];
}

function blockKey({ id, depth }: PlanStep, at: Positions): StepKey {
  return stepKey(id, at.slice(0, depth));
}

function isConcurrent(owner: ListOwner): owner is ConcurrentOwner {
  return owner.kind === "parallel" || owner.kind === "map";
}

function collectsErrors({ work }: PlanStep): boolean {
  return "collect" in work && work.collect;
}
