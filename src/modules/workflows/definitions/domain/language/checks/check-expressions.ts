import { unreachable } from "../../../../../../errors/index.ts";
import {
  CelError,
  type CelExpression,
  type CelType,
  type CelVariables,
  compileCel,
  elementTypeOf,
  isExpression,
  typeOfSchema,
} from "../../../../../../platform/cel/index.ts";
import {
  isJsonObject,
  shortName,
  type TextPosition,
  type Violations,
} from "../../../../../../platform/document/index.ts";
import { nearestName } from "../../../../../../platform/text/index.ts";
import type { Compensation, Definition, Json, JsonObject, Step, Work } from "../definition.ts";
import { outputScope, type PlacedStep, type StepScope, stepsOf } from "../step-tree.ts";
import { expressionsOf, type PlacedExpression, sourceOf } from "../template.ts";

/** The variables that exist only inside of some blocks, with the block that has them. */
const blockVariables = {
  item: { block: "map", has: (scope: StepScope) => scope.hasItem },
  index: { block: "map", has: (scope: StepScope) => scope.hasItem },
  err: { block: "catch", has: (scope: StepScope) => scope.hasError },
} as const;

/** The members of variables whose members are known. */
const members: Readonly<Record<string, readonly string[]>> = {
  run: ["id", "key", "definition", "version", "environment", "started_at"],
  err: ["code", "message", "step", "details"],
};

const inMap = { item: "any", index: "int" } as const;
const inCatch = { err: "map" } as const;

/** The variables of the expressions of a definition. */
class ScopeVariables {
  readonly #everywhere: CelVariables;
  // One object for all steps of a list, because compiled expressions are cached by their variables.
  readonly #lists = new Map<StepScope["list"], CelVariables>();

  constructor({ inputSchema }: Definition) {
    this.#everywhere = { input: typeOfSchema(inputSchema), steps: "map", run: "map" };
  }

  in(scope: StepScope | undefined): CelVariables {
    if (scope === undefined) return this.#everywhere;
    const variables = this.#lists.get(scope.list) ?? this.#create(scope);
    this.#lists.set(scope.list, variables);
    return variables;
  }

  #create({ parent, map, role }: StepScope): CelVariables {
    const outside = this.in(parent);
    if (map !== undefined) return { ...outside, ...inMap, item: elementTypeOf(map.in, outside) };
    return role === "catch" ? { ...outside, ...inCatch } : outside;
  }
}

/** An expression with what it may read and return. */
interface ExpressionCheck extends PlacedExpression {
  readonly scope: StepScope;
  /** The step that it belongs to; undefined for the output of the definition. */
  readonly reader: string | undefined;
  /** Whether the output of that step is visible too. */
  readonly seesOwn: boolean;
  readonly types: readonly CelType[] | undefined;
  /** Variables besides those of its scope. */
  readonly more?: CelVariables | undefined;
}

/** Checks all expressions of a definition. It yields after each one, so that a large definition can be checked in slices. */
export function* checkExpressions(definition: Definition, violations: Violations): Generator<void> {
  const places = new Map<string, PlacedStep>();
  const variables = new ScopeVariables(definition);
  for (const placed of stepsOf(definition)) {
    if (!places.has(placed.step.id)) places.set(placed.step.id, placed);
    checkPlainText(placed, violations);
  }
  for (const check of expressionChecks(definition)) {
    if (violations.isFull) return;
    const inScope = variables.in(check.scope);
    const visible = check.more === undefined ? inScope : { ...inScope, ...check.more };
    checkExpression(check, definition.inputSchema, visible, places, violations);
    yield;
  }
}

/** Reports placeholders of other template languages in texts for people, who would read them as they are. */
function checkPlainText({ step: { work }, path }: PlacedStep, violations: Violations): void {
  const [name, text] =
    work.kind === "approval" ? ["title", work.title] : work.kind === "fail" ? ["message", work.message] : [];
  if (typeof text !== "string" || isExpression(text) || !text.includes("{{")) return;
  const example = '="Ship " + input.order';
  const message = `is plain text, in which {{…}} is not replaced; begin with = for an expression, for example ${example}`;
  violations.add(`${path}.${work.kind}.${name}`, "placeholder", message);
}

function* expressionChecks(definition: Definition): Generator<ExpressionCheck> {
  for (const { step, path, scope } of stepsOf(definition)) {
    for (const { types, more, ...template } of templatesOf(step.work, path)) {
      yield* checksOf(template.value, template.path, { scope, reader: step.id, seesOwn: false, types, more });
    }
    const { compensate } = step;
    if (compensate === undefined) continue;
    for (const { value, path: at } of templatesOf(compensate.work, `${path}.compensate`)) {
      yield* checksOf(value, at, { scope, reader: step.id, seesOwn: true, types: undefined });
    }
  }
  const outside = { scope: outputScope(definition), reader: undefined, seesOwn: false, types: undefined };
  yield* checksOf(definition.output, "output", outside);
}

function* checksOf(
  template: Json | undefined,
  path: string,
  rest: Omit<ExpressionCheck, keyof PlacedExpression>,
): Generator<ExpressionCheck> {
  for (const expression of expressionsOf(template, path)) yield { ...expression, ...rest };
}

/** A template of a step, with the types that it may have if it is one expression. */
interface PlacedTemplate {
  readonly value: Json | undefined;
  readonly path: string;
  readonly types?: readonly CelType[] | undefined;
  /** Further variables. */
  readonly more?: CelVariables;
}

const scopeTypes: readonly CelType[] = ["string", "int", "double", "bool"];

/** The templates of a kind of work. */
function templatesOf(work: Work | Compensation["work"], path: string): readonly PlacedTemplate[] {
  const inside = `${path}.${work.kind}`;
  switch (work.kind) {
    case "task":
      return [{ value: work.with, path: `${path}.with` }];
    case "route":
      return (["type", "key", "attributes", "requirements", "payload", "priority"] as const).map((name) => ({
        value: work[name],
        path: `${inside}.${name}`,
      }));
    case "notify":
      return (["to", "channels", "payload"] as const).map((name) => ({ value: work[name], path: `${inside}.${name}` }));
    case "action":
      return [
        { value: work.connection, path: `${inside}.connection`, types: ["string"] },
        { value: work.with, path: `${path}.with`, ...(typeof work.with === "string" && { types: ["map"] }) },
      ];
    case "experiment":
      return [
        { value: work.unit, path: `${inside}.unit`, types: ["string", "int"] },
        { value: work.attributes, path: `${inside}.attributes` },
        { value: work.covariates, path: `${inside}.covariates` },
      ];
    case "subworkflow":
    case "continue_as_new":
      return [{ value: work.input, path: `${inside}.input` }];
    case "branch":
      return work.arms.map(({ when }, at) => ({ value: when, path: `${inside}[${at}].when`, types: ["bool"] }));
    case "map":
      return [{ value: work.in, path: `${inside}.in`, ...(typeof work.in === "string" && { types: ["list"] }) }];
    case "wait_event":
      return [
        ...work.any.map(({ scope }, at) => ({
          value: scope,
          path: work.short === true ? `${inside}.scope` : `${inside}.any[${at}].scope`,
          types: scopeTypes,
        })),
        {
          ...{ value: work.update?.when, path: `${inside}.update.when`, types: ["bool"] },
          more: { update: typeOfSchema(work.update?.inputSchema) },
        },
      ];
    case "wait_timer":
      return [
        { value: work.for, path: `${inside}.for`, types: ["string", "int", "double"] },
        { value: work.until, path: `${inside}.until`, types: ["timestamp", "string"] },
      ];
    case "approval":
      return (["title", "details"] as const).map((name) => ({ value: work[name], path: `${inside}.${name}` }));
    case "transform":
      return [{ value: work.value, path: inside }];
    case "fail":
      return [{ value: work.message, path: `${inside}.message` }];
    case "stream_append":
      return [{ value: work.value, path: `${inside}.value` }];
    case "stream_read":
      return [{ value: work.cursor, path: `${inside}.cursor`, types: ["int", "double", "string"] }];
    case "parallel":
      return [];
    default:
      return unreachable(work);
  }
}

function checkExpression(
  check: ExpressionCheck,
  inputSchema: JsonObject | undefined,
  variables: CelVariables,
  places: ReadonlyMap<string, PlacedStep>,
  violations: Violations,
): void {
  const { path, text, types } = check;
  const source = sourceOf(text);
  let expression: CelExpression;
  try {
    expression = compileCel(source, variables);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    if (!reportBlockVariables(check, source, variables, violations)) {
      violations.add(path, `cel_${error.kind}`, error.message, positionOf(error));
    }
    return;
  }
  if (types !== undefined && expression.type !== "any" && !types.includes(expression.type)) {
    const message = `must have a result of type ${types.join(" or ")}, not ${expression.type}`;
    violations.add(path, "cel_type", message, { line: 1, column: 1 });
  }
  checkInputMembers(expression.paths, inputSchema, path, source, violations);
  for (const [variable, member] of new Set(expression.paths).values().map((each) => each.split(".", 2))) {
    if (variable === "steps") checkStepReference(check, source, member, places, violations);
    const known = Object.hasOwn(members, variable!) ? members[variable!]! : undefined;
    if (known === undefined || member === undefined || known.includes(member)) continue;
    const near = nearestName(member, known);
    const hint = near === undefined ? `it has ${known.join(", ")}` : `did you mean ${variable}.${near}?`;
    violations.add(
      path,
      "unknown_member",
      `${variable} has no ${shortName(member)}; ${hint}`,
      findMember(source, variable!, member),
    );
  }
}

/** Reports members of the input that its schema does not allow. */
function checkInputMembers(
  paths: readonly string[],
  inputSchema: JsonObject | undefined,
  place: string,
  source: string,
  violations: Violations,
): void {
  for (const names of paths.map((each) => each.split(".")).filter(([variable]) => variable === "input")) {
    let schema: Json | undefined = inputSchema;
    for (const [at, name] of names.slice(1).entries()) {
      const known = closedMembers(schema);
      if (known === undefined) break;
      if (!Object.hasOwn(known, name)) {
        const parent = names.slice(0, at + 1).join(".");
        const near = name.length > 64 ? undefined : nearestName(name, Object.keys(known).slice(0, 50));
        const hint = near === undefined ? "add it to input_schema" : `did you mean ${parent}.${near}?`;
        const message = `the input schema allows no ${shortName(name)} in ${parent}; ${hint}`;
        violations.add(place, "unknown_member", message, findMember(source, "input", at === 0 ? name : undefined));
        break;
      }
      schema = known[name];
    }
  }
}

/** The members of an object that allows no others; undefined if others are allowed, or if a name with a dot hides them. */
function closedMembers(schema: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(schema) || schema.additionalProperties !== false) return undefined;
  const known = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.keys(known).some((name) => name.includes(".")) ? undefined : known;
}

/** Reports the variables of blocks that an expression uses outside of such a block; false if that is not what is wrong. */
function reportBlockVariables(
  { path, scope }: ExpressionCheck,
  source: string,
  variables: CelVariables,
  violations: Violations,
): boolean {
  const all = { ...inMap, ...inCatch, ...variables };
  let used: readonly string[];
  try {
    used = compileCel(source, all).variables;
  } catch {
    return false;
  }
  let found = false;
  for (const [name, { block, has }] of Object.entries(blockVariables)) {
    if (has(scope) || !used.includes(name)) continue;
    found = true;
    const message = `${name} exists only in the steps of a ${block}: use input or an earlier step, for example =input.id`;
    violations.add(path, "scope", message, findVariable(source, name, all));
  }
  return found;
}

function findVariable(source: string, name: string, all: CelVariables): TextPosition | undefined {
  const { [name]: _, ...others } = all;
  try {
    compileCel(source, others);
    return undefined;
  } catch (error) {
    return error instanceof CelError ? positionOf(error) : undefined;
  }
}

/** The position of an error in the text of the expression, which starts with `=`. */
function positionOf({ position }: CelError): TextPosition | undefined {
  return position && { line: position.line, column: position.line === 1 ? position.column + 1 : position.column };
}

/** The position of `variable.member` or `variable['member']`; undefined if it is written in another way. */
function findMember(source: string, variable: string, member?: string): TextPosition | undefined {
  const escaped = member?.replaceAll(/[^A-Za-z0-9_]/g, "\\$&");
  const tail = escaped === undefined ? "" : `\\s*(\\.\\??\\s*${escaped}\\b|\\[\\??\\s*['"]${escaped}['"])`;
  const at = source.search(new RegExp(`\\b${variable}\\b${tail}`));
  if (at === -1) return undefined;
  const before = source.slice(0, at).split("\n");
  return { line: before.length, column: before.at(-1)!.length + (before.length === 1 ? 2 : 1) };
}

function checkStepReference(
  { path, scope, reader, seesOwn }: ExpressionCheck,
  source: string,
  id: string | undefined,
  places: ReadonlyMap<string, PlacedStep>,
  violations: Violations,
): void {
  if (id === undefined) {
    const message = "must name the step literally, for example steps.score or steps['score']";
    violations.add(path, "step_reference", message, findMember(source, "steps"));
    return;
  }
  const isOwn = id === reader;
  if ((isOwn && seesOwn) || scope.sees(id)) return;
  const message = isOwn
    ? `the step "${id}" cannot read its own output: read an earlier step`
    : explainHidden(id, scope, places);
  violations.add(path, "step_reference", message, findMember(source, "steps", id));
}

/** Why a step cannot be read, and what to read instead. */
function explainHidden(id: string, scope: StepScope, places: ReadonlyMap<string, PlacedStep>): string {
  const target = places.get(id);
  if (target === undefined) {
    const visible = [...places.keys()].filter((each) => scope.sees(each));
    const near = id.length > 64 ? undefined : nearestName(id, visible);
    const hint = near === undefined ? "name an earlier step" : `did you mean steps.${near}?`;
    return `there is no step "${shortName(id)}"; ${hint}`;
  }
  const around = containersOf(scope);
  if (around.includes(target.step)) {
    return `the step "${id}" contains this one, so it has no output yet: read a step before it`;
  }
  const blocks = containersOf(target.scope);
  const shared = blocks.find((block) => around.includes(block));
  const visible = blocks.find((block) => scope.sees(block.id));
  if (visible !== undefined) {
    return `the step "${id}" is inside "${visible.id}" and may not have run: read steps.${visible.id}, the output of the whole block`;
  }
  if (shared !== undefined && isApart(shared, target, scope)) {
    return `the step "${id}" is in another part of "${shared.id}": read steps.${shared.id} after that block instead`;
  }
  return `the step "${id}" does not run before this one: move it up, or read an earlier step`;
}

/** The steps that contain a place, innermost first. */
function containersOf(scope: StepScope): readonly Step[] {
  const containers: Step[] = [];
  for (let at: StepScope | undefined = scope; at?.container !== undefined; at = at.parent)
    containers.push(at.container);
  return containers;
}

/** Whether two places that a step contains are in different lists of it. */
function isApart(shared: Step, target: PlacedStep, scope: StepScope): boolean {
  return listIn(shared, target.scope) !== listIn(shared, scope);
}

/** The list of a step that a place is in. */
function listIn(container: Step, scope: StepScope): unknown {
  for (let at: StepScope | undefined = scope; at !== undefined; at = at.parent)
    if (at.container === container) return at.list;
  return undefined;
}
