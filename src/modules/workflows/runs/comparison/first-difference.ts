import { isDeepStrictEqual } from "node:util";
import type { Plan } from "../domain/engine/plan.ts";
import { parseStepKey } from "../domain/engine/step-key.ts";
import type { SimulatedStep, Simulation } from "../simulation/simulation.ts";

/**
 * Where two simulated runs differ first. added, removed: only one version has the step. order: another step starts. input, arm: the
 * step starts with another input, or takes another arm. outcome: it ends in another way. end: the run ends in another way.
 */
export interface Difference {
  readonly change: "added" | "removed" | "order" | "kind" | "input" | "arm" | "outcome" | "end";
  /** The step; empty for the run itself. */
  readonly step: string;
}

/** Finds the first difference of two simulations of a run; undefined if there is none. */
export function findFirstDifference(
  [before, beforePlan]: readonly [Simulation, Plan],
  [after, afterPlan]: readonly [Simulation, Plan],
): Difference | undefined {
  for (let at = 0; at < Math.max(before.path.length, after.path.length); at++) {
    const [was, is] = [before.path[at], after.path[at]];
    if (was !== undefined && !has(afterPlan, was)) return { change: "removed", step: was.step };
    if (is !== undefined && !has(beforePlan, is)) return { change: "added", step: is.step };
    if (was === undefined || was.step !== is?.step) return { change: "order", step: (is ?? was)!.step };
    const change = changeOf(was, is);
    if (change !== undefined) return { change, step: was.step };
  }
  if (before.status === after.status && isDeepStrictEqual(before.output, after.output)) return undefined;
  return { change: "end", step: "" };
}

function changeOf(was: SimulatedStep, is: SimulatedStep): Difference["change"] | undefined {
  if (was.kind !== is.kind) return "kind";
  if (!isDeepStrictEqual(was.input, is.input)) return "input";
  if (was.arm !== is.arm) return "arm";
  const resultOf = ({ outcome, output, error, attempts }: SimulatedStep) => [outcome, output, error?.code, attempts];
  // The result of a block follows from the steps inside it, which come later in the path.
  if (was.kind === "parallel" || was.kind === "map" || was.kind === "branch") return undefined;
  return isDeepStrictEqual(resultOf(was), resultOf(is)) ? undefined : "outcome";
}

/** Whether a plan has a step, as an ordinary one or as the compensation of one. */
function has({ steps }: Plan, { step }: SimulatedStep): boolean {
  return steps.has(parseStepKey(step.replace(/^~/, "")).id);
}
