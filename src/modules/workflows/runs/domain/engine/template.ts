import {
  CelError,
  type CelExpression,
  type CelVariables,
  compileCel,
  type WorkMeter,
} from "../../../../../platform/cel/index.ts";
import type { Json, JsonObject } from "../../../definitions/index.ts";

/** The variables of all expressions of a definition. */
const variables: CelVariables = {
  input: "any",
  steps: "map",
  item: "any",
  index: "int",
  err: "map",
  run: "map",
};

/** The values of the variables. */
export type Values = Readonly<Record<string, unknown>>;

/** A compiled template: a JSON value with expressions in it. */
export interface Template {
  /** The ids of the steps whose outputs it reads. */
  readonly reads: readonly string[];
  /** The root variables that it reads. */
  readonly variables: readonly string[];
  /** Evaluates the expressions. Throws CelError if one fails. */
  evaluate(values: Values, meter: WorkMeter): Json;
}

type Evaluate = (values: Values, meter: WorkMeter) => Json;

/** Compiles a template. Throws CelError if an expression is invalid. */
export function compileTemplate(template: Json): Template {
  const reads = new Set<string>();
  const roots = new Set<string>();
  const compiled = compile(template, (expression) => {
    for (const root of expression.variables) roots.add(root);
    for (const path of expression.paths) {
      const [root, id] = path.split(".");
      if (root === "steps" && id !== undefined) reads.add(id);
    }
  });
  const evaluate: Evaluate = typeof compiled === "function" ? compiled : () => template;
  return { reads: [...reads], variables: [...roots], evaluate };
}

/** Returns a function, or undefined if the template has no expression. */
function compile(template: Json, found: (expression: CelExpression) => void): Evaluate | undefined {
  if (typeof template === "string") return compileText(template, found);
  if (Array.isArray(template)) return compileList(template, found);
  if (typeof template === "object" && template !== null) return compileObject(template as JsonObject, found);
  return undefined;
}

function compileText(text: string, found: (expression: CelExpression) => void): Evaluate | undefined {
  if (!text.startsWith("=")) return undefined;
  if (text.startsWith("==")) return () => text.slice(1);
  const expression = compileCel(text.slice(1), variables);
  found(expression);
  return (values, meter) => toJson(expression.evaluate(values, meter));
}

function compileList(list: readonly Json[], found: (expression: CelExpression) => void): Evaluate | undefined {
  const parts = list.map((each) => compile(each, found));
  if (parts.every((part) => part === undefined)) return undefined;
  return (values, meter) =>
    list.map((each, at) => {
      const part = parts[at];
      return part === undefined ? each : part(values, meter);
    });
}

function compileObject(object: JsonObject, found: (expression: CelExpression) => void): Evaluate | undefined {
  const parts = Object.entries(object).map(([name, each]) => ({ name, each, part: compile(each, found) }));
  if (parts.every(({ part }) => part === undefined)) return undefined;
  // Object.fromEntries creates an own property for every name, "__proto__" included.
  return (values, meter) =>
    Object.fromEntries(parts.map(({ name, each, part }) => [name, part === undefined ? each : part(values, meter)]));
}

/** Converts the result of an expression to JSON. Throws CelError for values that JSON cannot hold. */
function toJson(value: unknown): Json {
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value)) return value;
      throw new CelError("evaluation", "The result is not a finite number.");
    case "bigint":
      throw new CelError("evaluation", "The result is an integer that JSON cannot hold exactly.");
    case "string":
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return value.map(toJson);
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]));
    default:
      return null;
  }
}
