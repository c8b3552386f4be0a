import { fail, invalid } from "../../../errors/index.ts";
import {
  CelError,
  type CelVariables,
  checkCondition,
  compileCel,
  evaluateCondition,
  type WorkMeter,
} from "../../../platform/cel/index.ts";
import { isTooDeep, type Json } from "../definitions/index.ts";
import { compileTemplate, type Template } from "../runs/index.ts";
import type { TriggerEvent } from "./domain/event-match.ts";
import type { TriggerCause, TriggerSettings } from "./domain/trigger.ts";

/** The input and the run key of a run that a trigger starts. */
export interface RunTemplateResult {
  readonly input: Json;
  readonly runKey: string;
}

/** The values of the variables that templates and conditions use. */
export type TriggerValues = { readonly schedule: { readonly time: Date } } | { readonly event: TriggerEvent };

const variables: Readonly<Record<TriggerCause["kind"], CelVariables>> = {
  schedule: { schedule: "map" },
  event: { event: "map" },
};

const templateLengthMax = 64 * 1024;
const runKeyLengthMax = 255;
const controlCharacter = /[\x00-\x1f\x7f]/;

/** Throws INVALID_ARGUMENT if the templates or the condition of a trigger cannot be used. */
export function checkTemplates(
  { input, runKey }: Pick<TriggerSettings, "input" | "runKey">,
  cause: TriggerCause,
): void {
  if (JSON.stringify(input).length > templateLengthMax) {
    throw invalid("input", "max_bytes", "must be at most 64 KiB as JSON");
  }
  if (isTooDeep(input)) throw invalid("input", "depth", "must be nested at most 16 levels deep");
  checkTemplate("input", input, variables[cause.kind]);
  checkTemplate("run_key", runKey, variables[cause.kind]);
  if (cause.kind === "event") checkCondition("event.condition", cause.event.condition, variables.event);
}

/** Whether the templates of a trigger read a variable. */
export function usesVariable(
  { input, runKey }: Pick<TriggerSettings, "input" | "runKey">,
  kind: TriggerCause["kind"],
): boolean {
  return [input, runKey].some((each) => compileTemplate(each, variables[kind]).variables.includes(kind));
}

/** Whether a condition is true. Throws CelError if it cannot be evaluated. */
export function isConditionTrue(condition: string, event: TriggerEvent, meter: WorkMeter): boolean {
  return condition === "" || evaluateCondition(compileCel(condition, variables.event), valuesOf({ event }), meter);
}

/** Evaluates the templates of a trigger. Throws CelError if they cannot be evaluated. */
export function evaluateTemplates(
  { input, runKey }: Pick<TriggerSettings, "input" | "runKey">,
  values: TriggerValues,
  meter: WorkMeter,
): RunTemplateResult {
  const declared = "event" in values ? variables.event : variables.schedule;
  const evaluate = (template: Template) => template.evaluate(valuesOf(values), meter);
  return {
    input: evaluate(compileTemplate(input, declared)),
    runKey: toRunKey(evaluate(compileTemplate(runKey, declared))),
  };
}

function toRunKey(value: Json): string {
  if (typeof value === "object") throw new CelError("evaluation", "The run key must be a text.");
  const text = String(value);
  if (text.length > runKeyLengthMax || controlCharacter.test(text)) {
    throw new CelError("evaluation", "The run key must have at most 255 characters, without control characters.");
  }
  return text;
}

function valuesOf(values: TriggerValues): Readonly<Record<string, unknown>> {
  if ("schedule" in values) return values;
  const { id, type, subject, time, data } = values.event;
  return { event: { id, type, subject, time, data } };
}

function checkTemplate(field: string, template: Json, declared: CelVariables): void {
  try {
    compileTemplate(template, declared);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { kind, message } = error;
    const violations = [{ field, rule: `cel.${kind}`, message }];
    throw fail("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations, cause: error });
  }
}
