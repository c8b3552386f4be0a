import type { Violations } from "../../../../../../platform/document/index.ts";
import type { Definition, Step } from "../definition.ts";
import { limits } from "../limits.ts";
import { blocksOf } from "../step-tree.ts";

/**
 * How many steps a run of the definition executes at most. A map counts its steps for each of its `max_items`, a branch its
 * longest arm, and a step also its `on_timeout` and the longest entry of its `catch`. Retries and compensations count
 * nothing.
 */
export function worstCaseSteps({ steps }: Pick<Definition, "steps">): number {
  return countList(steps);
}

function countList(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + countStep(step), 0);
}

function countStep(step: Step): number {
  const { work } = step;
  const blocks = blocksOf(step, "").map(({ role, steps }) => ({ role, count: countList(steps) }));
  const counts = (role: string) => blocks.flatMap((block) => (block.role === role ? [block.count] : []));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const body = work.kind === "branch" ? Math.max(0, ...counts("body")) : sum(counts("body"));
  const times = work.kind === "map" ? work.maxItems : 1;
  return 1 + times * body + sum(counts("timeout")) + Math.max(0, ...counts("catch"));
}

/** Reports a definition whose runs could execute too many steps, at the innermost step that is too large by itself. */
export function checkStepCount(definition: Pick<Definition, "steps">, violations: Violations): void {
  const count = worstCaseSteps(definition);
  if (count <= limits.executedSteps) return;
  const path = culpritPath(definition.steps, "steps") ?? "steps";
  const numbers = new Intl.NumberFormat("en");
  const shown = count > 1e15 ? "more than 1,000,000,000,000,000" : numbers.format(count);
  violations.add(
    path,
    "executed_steps",
    `could make a run execute ${shown} steps; at most ${numbers.format(limits.executedSteps)} are allowed: ` +
      "lower max_items, or move the inner steps into a subworkflow",
  );
}

function culpritPath(steps: readonly Step[], path: string): string | undefined {
  for (const [at, step] of steps.entries()) {
    if (countStep(step) <= limits.executedSteps) continue;
    const stepPath = `${path}[${at}]`;
    for (const block of blocksOf(step, stepPath)) {
      const inner = culpritPath(block.steps, block.path);
      if (inner !== undefined) return inner;
    }
    return step.work.kind === "map" ? `${stepPath}.map.max_items` : stepPath;
  }
  return undefined;
}
