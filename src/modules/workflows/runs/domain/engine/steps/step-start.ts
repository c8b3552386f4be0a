import { CelError } from "../../../../../../platform/cel/index.ts";
import type { Json } from "../../../../definitions/index.ts";
import { evaluate, expressionFailure } from "../evaluation.ts";
import { type Execution, stepError } from "../execution.ts";
import type { ListOwner, PlanStep } from "../plan.ts";
import { continueAsNew } from "../run-end.ts";
import { inputLengthMax } from "../size-limits.ts";
import { roomFor } from "../state-room.ts";
import { type Positions, type StepKey, stepKey } from "../step-key.ts";
import { startBranch, startMap, startParallel } from "./blocks.ts";
import { startExternalWork } from "./external-work.ts";
import { completeStep, failStep, failTooLarge } from "./step-end.ts";
import { startApproval, startEventWait, startTimer } from "./waits.ts";

/** Maximum size of a step in progress in the state, besides its values. */
const activityBytes = 400;

/** Starts a step, unless the block around it was cancelled meanwhile. */
export function startStep(execution: Execution, step: PlanStep, at: Positions): void {
  if (!isOpen(execution, step.list.owner, at)) return;
  const key = stepKey(step.id, at);
  execution.size.heldBytes += activityBytes;
  try {
    startWork(execution, step, key, at);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { code, message } = expressionFailure(error);
    failStep(execution, key, stepError(key, code, message));
  }
}

/** Whether the block that a list belongs to still runs this list. */
function isOpen({ state }: Execution, owner: ListOwner, at: Positions): boolean {
  if (owner.kind === "run") return state.ending === undefined;
  const activity = state.active[stepKey(owner.step.id, at.slice(0, owner.step.depth))];
  return activity?.s === owner.kind;
}

function startWork(execution: Execution, step: PlanStep, key: StepKey, at: Positions): void {
  const { work } = step;
  switch (work.kind) {
    case "transform":
      completeStep(execution, key, evaluate(execution, work.value, step, at));
      return;
    case "fail": {
      const message = evaluate(execution, work.message, step, at);
      const text = typeof message === "string" ? message : JSON.stringify(message);
      failStep(execution, key, stepError(key, work.code, text));
      return;
    }
    case "continue_as_new":
      startContinuation(execution, key, evaluate(execution, work.input, step, at));
      return;
    case "branch":
      startBranch(execution, step, work, key, at);
      return;
    case "parallel":
      startParallel(execution, step, work, key, at);
      return;
    case "map":
      startMap(execution, step, work, key, at);
      return;
    case "wait_event":
      startEventWait(execution, step, work, key, at);
      return;
    case "wait_timer":
      startTimer(execution, step, work, key, at);
      return;
    case "approval":
      startApproval(execution, step, work, key, at);
      return;
    default: {
      const request = evaluate(execution, work.request, step, at);
      startExternalWork(execution, step, key, request);
      // The input of a task is not part of the state. An effect of a step that has failed is not performed.
      if (work.kind !== "task" && roomFor(execution, [request]) === undefined) failTooLarge(execution, key);
    }
  }
}

/** Continues the work of the run in another one, unless the input is too large or another run waits for the end of this one. */
function startContinuation(execution: Execution, key: StepKey, input: Json): void {
  if (execution.context.isAwaited) {
    failStep(execution, key, stepError(key, "continue_failed", "Another run waits for the end of this one."));
  } else if (JSON.stringify(input).length > inputLengthMax) {
    failTooLarge(execution, key);
  } else {
    continueAsNew(execution, key, input);
  }
}
