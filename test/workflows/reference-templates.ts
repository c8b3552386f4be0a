import type { Json, JsonObject } from "../../src/modules/workflows/definitions/domain/language/definition.ts";
import { CelError, compileCel } from "../../src/platform/cel/index.ts";

/** The variables of expressions. Those that do not exist at a place are left out. */
export interface Variables {
  readonly input: Json;
  readonly steps: JsonObject;
  readonly item?: Json;
  readonly index?: number;
  readonly err?: JsonObject;
  readonly run: Readonly<Record<string, unknown>>;
}

/** An expression that cannot be evaluated, or whose result cannot be used. */
export class ExpressionError extends Error {}

const declared = { input: "any", steps: "any", item: "any", index: "int", err: "any", run: "any" } as const;

/** Evaluates a template to a JSON value. */
export function evaluateTemplate(template: Json, variables: Variables): Json {
  if (typeof template === "string") {
    if (template.startsWith("==")) return template.slice(1);
    return template.startsWith("=") ? toJson(evaluateExpression(template, variables)) : template;
  }
  if (Array.isArray(template)) return template.map((element) => evaluateTemplate(element, variables));
  if (template === null || typeof template !== "object") return template;
  const entries = Object.entries(template).map(([name, value]) => [name, evaluateTemplate(value, variables)] as const);
  return Object.fromEntries(entries);
}

/** Evaluates a text that starts with `=`. The result may be a Date. */
export function evaluateExpression(text: string, variables: Variables): unknown {
  try {
    return compileCel(text.slice(1), declared).evaluate({ ...variables });
  } catch (error) {
    if (error instanceof CelError) throw new ExpressionError(error.message);
    throw error;
  }
}

/** Timestamps become RFC 3339 texts. Numbers that JSON cannot hold are errors. */
function toJson(value: unknown): Json {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)))
    throw new ExpressionError(`${value} cannot be represented in JSON.`);
  if (value === null || typeof value !== "object") return value as Json;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, toJson(entry)]));
}

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const waitMsMax = 365 * unitsMs.d;

/** The length of a wait whose expression gave a duration text or a number of seconds. */
export function durationMs(result: unknown): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(typeof result === "string" ? result : "") ?? [];
  if (unit !== undefined) return boundedWait(Number(amount) * unitsMs[unit as keyof typeof unitsMs]);
  if (typeof result === "number") return boundedWait(Math.round(result * 1000));
  throw new ExpressionError("A duration must be a text such as 10m or a number of seconds.");
}

/** The length of a wait until a time: a Date or an RFC 3339 text. */
export function untilMs(result: unknown, nowMs: number): number {
  const isText =
    typeof result === "string" && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(result);
  const timeMs = result instanceof Date ? result.getTime() : isText ? Date.parse(result) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new ExpressionError("A time must be a timestamp or an RFC 3339 text.");
  return boundedWait(timeMs - nowMs);
}

function boundedWait(ms: number): number {
  if (ms > waitMsMax) throw new ExpressionError("A wait may take at most 365d.");
  return Math.max(0, ms);
}

/** The scope of an event: a text; numbers and booleans become texts. */
export function scopeText(value: Json): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new ExpressionError("The scope of an event must be a text.");
}
