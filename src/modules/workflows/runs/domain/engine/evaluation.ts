import { CelError, ResultTooLarge } from "../../../../../platform/cel/index.ts";
import type { Json } from "../../../definitions/index.ts";
import type { Execution } from "./execution.ts";
import type { PlanStep } from "./plan.ts";
import { type Positions, stepKey } from "./step-key.ts";
import type { Template } from "./template.ts";

/** Evaluates a template of a step. Throws CelError if an expression fails. */
export function evaluate(execution: Execution, template: Template, step: PlanStep, at: Positions): Json {
  return template.evaluate(valuesFor(execution, template, step, at, false), execution.meter);
}

/** Evaluates a template of a completed step, which may use the output of the step itself. */
export function evaluateWithOutput(execution: Execution, template: Template, step: PlanStep, at: Positions): Json {
  return template.evaluate(valuesFor(execution, template, step, at, true), execution.meter);
}

export function evaluateRunOutput(execution: Execution, template: Template): Json {
  return template.evaluate(valuesFor(execution, template, undefined, [], false), execution.meter);
}

/** Evaluates the condition of a branch. */
export function isTrue(execution: Execution, when: Template, step: PlanStep, at: Positions): boolean {
  const result = evaluate(execution, when, step, at);
  if (typeof result === "boolean") return result;
  throw new CelError("evaluation", "The condition of a branch must be true or false.");
}

/** Whether a wait accepts an update. */
export function acceptsUpdate(
  execution: Execution,
  when: Template,
  step: PlanStep,
  at: Positions,
  update: Json,
): boolean {
  const values = { ...valuesFor(execution, when, step, at, false), update };
  return when.evaluate(values, execution.meter) === true;
}

const quotedMax = 200;

/** The code of a failed expression, and a message with its text and the position in it. */
export function expressionFailure(error: CelError): { readonly code: string; readonly message: string } {
  const { message, position, source = "" } = error;
  if (error instanceof ResultTooLarge) return { code: "state_too_large", message };
  const quoted = source.length > quotedMax ? `${source.slice(0, quotedMax)}…` : source;
  const place = position === undefined ? "" : `${quoted}, line ${position.line}, column ${position.column}: `;
  return { code: "expression_error", message: `${place}${message}` };
}

/** The values of the variables that a template reads. */
function valuesFor(
  { state, plan, context }: Execution,
  template: Template,
  step: PlanStep | undefined,
  at: Positions,
  withOwn: boolean,
): Readonly<Record<string, unknown>> {
  const steps: Record<string, Json> = {};
  for (const id of template.reads) {
    const target = plan.steps.get(id);
    if (target === undefined || (id === step?.id && !withOwn)) continue;
    const key = stepKey(id, at.slice(0, target.depth));
    if (key in state.values) steps[id] = state.values[key]!;
  }
  const values: Record<string, unknown> = { input: state.input, run: context.run, steps };
  if (step === undefined) return values;
  const { variables } = template;
  if (variables.includes("err")) values.err = errorAround(state, step, at);
  if (variables.includes("item") || variables.includes("index")) Object.assign(values, elementAround(state, step, at));
  return values;
}

/** The error that the innermost catch around a step handles. */
function errorAround(state: Execution["state"], step: PlanStep, at: Positions): unknown {
  for (let { owner } = step.list; owner.kind !== "run"; owner = owner.step.list.owner) {
    if (owner.kind !== "catch") continue;
    const activity = state.active[stepKey(owner.step.id, at.slice(0, owner.step.depth))];
    if (activity?.s === "catch") return activity.err;
  }
  return undefined;
}

/** The element of the innermost map around a step. */
function elementAround(state: Execution["state"], { map }: PlanStep, at: Positions): object {
  if (map === undefined) return {};
  const activity = state.active[stepKey(map.id, at.slice(0, map.depth))];
  const index = at[map.depth];
  return activity?.s === "map" && index !== undefined ? { item: activity.items[index], index } : {};
}
