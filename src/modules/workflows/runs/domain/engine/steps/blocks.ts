import { CelError } from "../../../../../../platform/cel/index.ts";
import { evaluate, isTrue } from "../evaluation.ts";
import { type Execution, stepError } from "../execution.ts";
import type { PlanStep, PlanWork } from "../plan.ts";
import { roomFor } from "../state-room.ts";
import type { Positions, StepKey } from "../step-key.ts";
import { timesOf } from "./external-work.ts";
import { completeStep, continueMapLater, failStep, failTooLarge, startList } from "./step-end.ts";

type WorkOf<Kind extends PlanWork["kind"]> = Extract<PlanWork, { readonly kind: Kind }>;

/** Starts the first arm of a branch whose condition is true. */
export function startBranch(
  execution: Execution,
  step: PlanStep,
  work: WorkOf<"branch">,
  key: StepKey,
  at: Positions,
): void {
  const taken = work.arms.findIndex(({ when }) => when === undefined || isTrue(execution, when, step, at));
  const arm = work.arms[taken];
  if (arm === undefined) {
    completeStep(execution, key, null);
    return;
  }
  execution.history.push({ kind: "branch_taken", step: key, arm: arm.when === undefined ? "else" : String(taken) });
  execution.state.active[key] = { s: "arm", ...timesOf(execution, step) };
  startList(execution, arm.list, at);
}

export function startParallel(
  execution: Execution,
  step: PlanStep,
  { branches }: WorkOf<"parallel">,
  key: StepKey,
  at: Positions,
): void {
  execution.state.active[key] = { s: "parallel", ...timesOf(execution, step), open: branches.size, results: {} };
  // The last one that is pushed starts first.
  for (const list of [...branches.values()].reverse()) startList(execution, list, at);
}

/** Starts a map. Its elements follow one by one. */
export function startMap(execution: Execution, step: PlanStep, work: WorkOf<"map">, key: StepKey, at: Positions): void {
  const items = evaluate(execution, work.in, step, at);
  if (!Array.isArray(items)) throw new CelError("evaluation", "The elements of a map must be a list.");
  if (items.length > work.maxItems) {
    const message = `The list has ${items.length} elements; max_items is ${work.maxItems}.`;
    failStep(execution, key, stepError(key, "map_too_large", message));
    return;
  }
  execution.state.active[key] = { s: "map", ...timesOf(execution, step), items, next: 0, open: 0, results: [] };
  const bytes = roomFor(execution, [items]);
  if (bytes === undefined) {
    failTooLarge(execution, key);
    return;
  }
  execution.size.recordedBytes += bytes;
  execution.history.push({ kind: "map_started", step: key, items });
  continueMapLater(execution, key);
}

/** Starts the next element of a map, if another one may be in progress, or completes the map. */
export function continueMap(execution: Execution, key: StepKey): void {
  const activity = execution.state.active[key];
  const { step, positions } = execution.stepOf(key);
  if (step.work.kind !== "map" || activity?.s !== "map") return;
  const hasRoom = activity.open < step.work.maxParallel;
  if (hasRoom && activity.resume !== undefined) {
    const element = activity.resume.shift();
    if (activity.resume.length === 0) delete activity.resume;
    activity.open++;
    execution.stack.push({ map: key }, ...(element ?? []));
  } else if (hasRoom && activity.next < activity.items.length) {
    activity.open++;
    execution.stack.push({ map: key });
    startList(execution, step.work.list, [...positions, activity.next++]);
  } else if (activity.open === 0 && activity.next === activity.items.length) {
    completeStep(execution, key, activity.results);
  }
}
