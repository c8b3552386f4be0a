import type { Json, JsonObject } from "../document/index.ts";
import { CelError } from "./cel-error.ts";
import type { CelVariables } from "./cel-type.ts";
import { compileCel } from "./compile.ts";
import type { CelExpression, WorkMeter } from "./expression.ts";
import { DYN, type StaticType } from "./syntax/static-type.ts";

/** The values of the variables. */
export type TemplateValues = Readonly<Record<string, unknown>>;

/** A compiled template: a JSON value in which texts that start with one `=` are expressions. */
export interface Template {
  /** The dotted paths that its expressions read, as far as they are static. */
  readonly paths: readonly string[];
  /** The root variables that it reads. */
  readonly variables: readonly string[];
  /** Evaluates the expressions. Throws CelError if one fails. */
  evaluate(values: TemplateValues, meter: WorkMeter): Json;
}

/** The result of a template is larger than allowed. */
export class ResultTooLarge extends CelError {
  constructor() {
    super("evaluation", `The result exceeds ${resultBytesMax / 1024} KiB as JSON.`);
  }
}

/** The largest result of a template, as JSON. */
const resultBytesMax = 256 * 1024;

/** The bytes that the results in a template may still have. */
interface Room {
  bytes: number;
}

type Evaluate = (values: TemplateValues, meter: WorkMeter, room: Room) => Json;
type CompileExpression = (source: string) => CelExpression;

/** Whether a text of a template is an expression: it starts with one `=`. A text that starts with `==` stands for the rest. */
export function isExpression(text: string): boolean {
  return text.startsWith("=") && !text.startsWith("==");
}

/** Compiles a template. Throws CelError if an expression is invalid. */
export function compileTemplate(template: Json, declared: CelVariables): Template {
  const paths = new Set<string>();
  const roots = new Set<string>();
  const compiled = compile(template, (source) => {
    const expression = compileCel(source, declared);
    for (const root of expression.variables) roots.add(root);
    for (const path of expression.paths) paths.add(path);
    return expression;
  });
  const evaluate: Template["evaluate"] = (values, meter) =>
    compiled === undefined ? template : compiled(values, meter, { bytes: resultBytesMax });
  return { paths: [...paths], variables: [...roots], evaluate };
}

/** The type of the elements of the list that a template gives; dynamic if it is no expression, or an invalid one. */
export function elementTypeOf(template: Json, declared: CelVariables): StaticType {
  if (typeof template !== "string" || !isExpression(template)) return DYN;
  try {
    return compileCel(template.slice(1), declared).elementType;
  } catch (error) {
    if (error instanceof CelError) return DYN;
    throw error;
  }
}

/** Returns a function, or undefined if the template has no expression. */
function compile(template: Json, expressionOf: CompileExpression): Evaluate | undefined {
  if (typeof template === "string") return compileText(template, expressionOf);
  if (Array.isArray(template)) return compileList(template, expressionOf);
  if (typeof template === "object" && template !== null) return compileObject(template as JsonObject, expressionOf);
  return undefined;
}

function compileText(text: string, expressionOf: CompileExpression): Evaluate | undefined {
  if (!isExpression(text)) return text.startsWith("=") ? () => text.slice(1) : undefined;
  const expression = expressionOf(text.slice(1));
  return (values, meter, room) => toJson(expression.evaluate(values, meter), room);
}

function compileList(list: readonly Json[], expressionOf: CompileExpression): Evaluate | undefined {
  const parts = list.map((each) => compile(each, expressionOf));
  if (parts.every((part) => part === undefined)) return undefined;
  return (values, meter, room) =>
    list.map((each, at) => {
      const part = parts[at];
      return part === undefined ? each : part(values, meter, room);
    });
}

function compileObject(object: JsonObject, expressionOf: CompileExpression): Evaluate | undefined {
  const parts = Object.entries(object).map(([name, each]) => ({ name, each, part: compile(each, expressionOf) }));
  if (parts.every(({ part }) => part === undefined)) return undefined;
  // Object.fromEntries creates an own property for every name, "__proto__" included.
  return (values, meter, room) =>
    Object.fromEntries(
      parts.map(({ name, each, part }) => [name, part === undefined ? each : part(values, meter, room)]),
    );
}

/**
 * Converts the result of an expression to JSON. Throws CelError for values that JSON cannot hold, and for those that take
 * more than the room: a template may contain a large value very often, so the result must not be copied first.
 */
function toJson(value: unknown, room: Room): Json {
  room.bytes -= typeof value === "string" ? value.length + 2 : 1;
  if (room.bytes < 0) throw new ResultTooLarge();
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
      if (Array.isArray(value)) return value.map((each) => toJson(each, room));
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each, room)]));
    default:
      return null;
  }
}
