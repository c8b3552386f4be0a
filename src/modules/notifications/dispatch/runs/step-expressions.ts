import { compileCel, evaluateCondition } from "../../../../platform/cel/index.ts";
import { nextTimeMs, type StepWait, stepVariables, waitSecondsMax } from "../../preferences/index.ts";

/** The values of the variables that steps can read. */
export type StepValues = Readonly<Record<string, unknown>>;

/** The result of a condition. An error counts as false, so that it never widens what is sent. */
export function checkStepCondition(
  condition: string,
  values: StepValues,
): "true" | "condition_false" | "condition_error" {
  if (condition === "") return "true";
  try {
    return evaluateCondition(compileCel(condition, stepVariables, "bool"), values) ? "true" : "condition_false";
  } catch {
    return "condition_error";
  }
}

const keyLengthMax = 255;

/** The text of a key; "" without an expression and undefined if the expression cannot be evaluated. */
export function evaluateKey(expression: string, values: StepValues): string | undefined {
  if (expression === "") return "";
  const value = evaluate(expression, values);
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
  const text = String(value);
  return text.length > keyLengthMax || text.includes("\0") ? undefined : text;
}

const timeText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** When a wait ends; undefined if its expression does not return a time, or one that is too far away. */
export function waitEndMs(wait: StepWait, values: StepValues, subscriberZone: string, nowMs: number) {
  switch (wait.kind) {
    case "for":
      return nowMs + wait.seconds * 1000;
    case "at":
      return nextTimeMs(wait.timezone || subscriberZone || "UTC", wait.time, wait.days, nowMs);
    case "until": {
      const value = evaluate(wait.expression, values);
      const atMs = value instanceof Date ? value.getTime() : isTime(value) ? Date.parse(value) : Number.NaN;
      return atMs <= nowMs + waitSecondsMax * 1000 ? atMs : undefined;
    }
  }
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && timeText.test(value);
}

function evaluate(expression: string, values: StepValues): unknown {
  try {
    return compileCel(expression, stepVariables).evaluate(values);
  } catch {
    return undefined;
  }
}
