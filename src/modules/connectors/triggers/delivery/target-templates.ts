import { fail, invalid } from "../../../../errors/index.ts";
import {
  CelError,
  type CelVariables,
  compileCel,
  evaluateCondition,
  type WorkMeter,
} from "../../../../platform/cel/index.ts";
import { isTooDeep, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import type { Target } from "../domain/subscription.ts";

/** Compiles a JSON value with expressions in it. Throws CelError if one is invalid. */
export type CompileTemplate = (
  template: Json,
  variables: CelVariables,
) => { evaluate(values: Readonly<Record<string, unknown>>, meter: WorkMeter): Json };

/** An event as conditions and templates see it. */
export interface EventValue {
  readonly id: string;
  readonly type: string;
  /** The subscription. */
  readonly subject: string;
  readonly time: Date;
  readonly data: Json;
}

/** The variables of conditions and templates. */
export const eventVariables: CelVariables = { event: "map" };

const templateLengthMax = 64 * 1024;
const runKeyLengthMax = 255;
const routeFields = [
  "pool",
  "type",
  "key",
  "attributes",
  "requirements",
  "payload",
  "priority",
  "not_before",
  "ttl_s",
] as const;

/** Throws INVALID_ARGUMENT if the templates of a target cannot be used. */
export function checkTarget(compile: CompileTemplate, target: Target): void {
  if (target.kind === "record") return;
  if (target.kind === "workflow") {
    if (target.input !== undefined) checkTemplate(compile, "target.workflow.input", target.input);
    checkTemplate(compile, "target.workflow.run_key", target.runKey);
    return;
  }
  const { pool } = target.request;
  if (typeof pool !== "string" || pool === "") {
    throw invalid("target.route.pool", "required", "is required: the name or id of a pool (for example: support)");
  }
  const unknown = Object.keys(target.request).find((name) => !(routeFields as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const message = `is not a field of a route; known are ${routeFields.join(", ")}`;
    throw invalid(`target.route.${unknown}`, "unknown", message);
  }
  checkTemplate(compile, "target.route", target.request);
}

function checkTemplate(compile: CompileTemplate, field: string, template: Json): void {
  if (JSON.stringify(template).length > templateLengthMax) {
    throw invalid(field, "max_bytes", "must be at most 64 KiB as JSON");
  }
  if (isTooDeep(template, 16)) throw invalid(field, "depth", "must be nested at most 16 levels deep");
  try {
    compile(template, eventVariables);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const violations = [{ field, rule: `cel.${error.kind}`, message: error.message }];
    throw fail("INVALID_ARGUMENT", { public: `${field}: ${error.message}`, violations, cause: error });
  }
}

/** Whether the condition of a subscription is true for an event. Throws CelError if it cannot be evaluated. */
export function isConditionTrue(condition: string, event: EventValue): boolean {
  return condition === "" || evaluateCondition(compileCel(condition, eventVariables), { event });
}

/** The input and the run key of a run. Throws CelError if they cannot be evaluated. */
export function evaluateRun(
  compile: CompileTemplate,
  { input, runKey }: Extract<Target, { kind: "workflow" }>,
  event: EventValue,
): { readonly input: Json; readonly runKey: string } {
  const evaluate = (template: Json) => compile(template, eventVariables).evaluate({ event }, { steps: 0 });
  const key = evaluate(runKey);
  if (typeof key === "object" || String(key).length > runKeyLengthMax || /[\x00-\x1f\x7f]/.test(String(key))) {
    const message = "The run key must be a text of at most 255 characters without control characters.";
    throw new CelError("evaluation", message);
  }
  const whole = { ...event, time: event.time.toISOString() } satisfies JsonObject;
  return { input: input === undefined ? whole : evaluate(input), runKey: String(key) };
}

/** The fields of a route. Throws CelError if they cannot be evaluated. */
export function evaluateRoute(
  compile: CompileTemplate,
  { request }: Extract<Target, { kind: "route" }>,
  event: EventValue,
): JsonObject {
  return compile(request, eventVariables).evaluate({ event }, { steps: 0 }) as JsonObject;
}
