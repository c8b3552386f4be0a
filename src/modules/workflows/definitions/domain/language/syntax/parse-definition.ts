import {
  checkDocumentSize,
  type DocumentViolation,
  ObjectReader,
  Violations,
} from "../../../../../../platform/document/index.ts";
import { checkSchema } from "../../../../../../platform/json-schema/index.ts";
import type { Catch, Compensation, Definition, Json, JsonObject, Step, Work } from "../definition.ts";
import { documentLimits, formats, limits } from "../limits.ts";
import { parseRetry, parseStepTimeout } from "./parse-policy.ts";
import { checkName, type WorkContext, workParsers } from "./parse-work.ts";

/** A parsed document, or what is wrong with it. */
export type ParsedDefinition =
  | { readonly definition: Definition; readonly violations: readonly [] }
  | { readonly definition: undefined; readonly violations: readonly DocumentViolation[] };

/** The fields of a document. */
export const definitionFields = [
  "dsl",
  "key",
  "name",
  "description",
  "timeout",
  "input_schema",
  "retry",
  "on_failure",
  "steps",
  "output",
] as const;

/** The kinds of steps, as fields of a step. */
export const stepKinds = Object.keys(workParsers) as Work["kind"][];

/** The kinds of steps that can undo others. */
export const compensationKinds = ["task", "route", "notify", "action", "subworkflow"] as const;

const policyFields = ["with", "retry", "timeout"] as const;

/** The fields of a step. */
export const stepFields: readonly string[] = ["id", ...stepKinds, ...policyFields, "catch", "compensate"];

const stepExample = '[{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]';

/** What all levels of one document share. */
interface Parse {
  readonly violations: Violations;
  stepCount: number;
}

/**
 * Reads a document. It accepts any value, never throws, and takes time in proportion to the size of the document, which
 * is limited. It checks the structure only; `checkDefinition` checks what the parts mean together.
 */
export function parseDefinition(document: unknown): ParsedDefinition {
  const violations = new Violations();
  const definition = checkDocumentSize(document, violations, documentLimits)
    ? readDefinition(document as Json, violations)
    : undefined;
  return definition === undefined || violations.list.length > 0
    ? { definition: undefined, violations: violations.list }
    : { definition, violations: [] };
}

function readDefinition(document: Json, violations: Violations): Definition | undefined {
  const example = `{"dsl": "1", "key": "lead.onboard", "timeout": "1d", "steps": ${stepExample}}`;
  const reader = ObjectReader.open(document, "", violations, {
    known: definitionFields,
    example,
    what: "a definition",
  });
  if (reader === undefined) return undefined;
  if (reader.get("dsl") !== "1") reader.refuse("dsl", "choice", 'must be the text "1" (in quotes)');
  const inputSchema = reader.get("input_schema");
  if (inputSchema !== undefined) checkSchema(inputSchema, "input_schema", violations);
  return {
    dsl: "1",
    key: reader.text("key", formats.key) ?? "",
    name: reader.prose("name", limits.nameLength),
    description: reader.prose("description", limits.descriptionLength),
    timeoutMs: reader.requiredDuration("timeout", { example: "14d" }) ?? 0,
    inputSchema: inputSchema as JsonObject | undefined,
    retry: parseRetry(reader.get("retry"), "retry", violations),
    onFailure: reader.choice("on_failure", ["fail", "compensate"], "fail"),
    steps: readTopSteps(reader),
    output: reader.nested("output", limits.templateDepth),
  };
}

function readTopSteps(reader: ObjectReader): readonly Step[] {
  const value = reader.required("steps", stepExample);
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length === 0) {
    reader.refuse("steps", "list", `must have at least one step, for example ${stepExample}`);
  }
  return readSteps(value, "steps", 1, { violations: reader.violations, stepCount: 0 });
}

function readSteps(value: Json | undefined, path: string, depth: number, parse: Parse): readonly Step[] {
  const { violations } = parse;
  if (!Array.isArray(value)) {
    violations.add(path, "list", `must be a list of steps, for example ${stepExample}`);
    return [];
  }
  if (depth > limits.stepDepth) {
    const message = `must not be nested deeper than ${limits.stepDepth} levels: move inner steps into a subworkflow`;
    violations.add(path, "step_depth", message);
    return [];
  }
  const steps: Step[] = [];
  for (const [at, element] of (value as readonly Json[]).entries()) {
    parse.stepCount++;
    if (parse.stepCount === limits.steps + 1) {
      const message = `must have at most ${limits.steps} steps in total: move steps into a subworkflow`;
      violations.add("steps", "step_count", message);
    }
    if (parse.stepCount > limits.steps || violations.isFull) break;
    const step = readStep(element, `${path}[${at}]`, depth, parse);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

function readStep(value: Json, path: string, depth: number, parse: Parse): Step | undefined {
  const { violations } = parse;
  const example = '{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}';
  const step = ObjectReader.open(value, path, violations, { known: stepFields, example, what: "a step" });
  if (step === undefined) return undefined;
  const id = readId(step);
  const context: WorkContext = {
    violations,
    steps: (inner, innerPath) => readSteps(inner, innerPath, depth + 1, parse),
  };
  const work = readWork(step, stepKinds, context);
  const read = {
    catch: readCatches(step, context),
    retry: parseRetry(step.get("retry"), step.pathOf("retry"), violations),
    timeout: parseStepTimeout(step.get("timeout"), step.pathOf("timeout"), violations),
    compensate: readCompensation(step, context),
  };
  return work === undefined ? undefined : { id, work, ...read };
}

function readId(step: ObjectReader): string {
  const id = step.text("id", formats.stepId) ?? "";
  if (id !== "") checkName(id, step.pathOf("id"), "a step's id", step.violations);
  return id;
}

/** Reads the one kind of a step. */
function readWork<K extends Work["kind"]>(
  step: ObjectReader,
  kinds: readonly K[],
  context: WorkContext,
): Extract<Work, { kind: K }> | undefined {
  const named = kinds.filter((kind) => step.has(kind));
  const [kind] = named;
  if (kind === undefined) {
    return context.violations.add(step.path, "kind", `must have one of ${kinds.join(", ")}`);
  }
  if (named.length > 1) {
    const message = `must have exactly one kind, not ${named.join(" and ")}: make them separate steps`;
    return context.violations.add(step.path, "kind", message);
  }
  if (step.has("with") && kind !== "task" && kind !== "action") {
    step.refuse("with", "with", `is the input of a task or an action: a ${kind} step has its values inside ${kind}`);
  }
  const parser = workParsers[kind];
  return parser(step.get(kind)!, step.pathOf(kind), step, context) as Extract<Work, { kind: K }> | undefined;
}

/** The fields of an entry of `catch`. */
export const catchFields = ["on", "steps"] as const;

function readCatches(step: ObjectReader, context: WorkContext): readonly Catch[] {
  const example = '[{"on": ["*"], "steps": []}]';
  const entries = step.list("catch", { min: 1, max: limits.catches }, example) ?? [];
  return entries.flatMap((value, at) => {
    const path = `${step.pathOf("catch")}[${at}]`;
    const known = { known: catchFields, example: '{"on": ["*"], "steps": []}', what: "an entry of catch" };
    const entry = ObjectReader.open(value, path, context.violations, known);
    if (entry === undefined) return [];
    entry.required("on", '["*"]');
    const on = entry.textList("on", formats.caughtCode, { min: 1, max: limits.codes }, '["*"]') ?? [];
    const steps = entry.required("steps", '[{"id": "fallback", "transform": 0}]');
    return [{ on, steps: steps === undefined ? [] : context.steps(steps, entry.pathOf("steps")) }];
  });
}

/** The fields of `compensate`. */
export const compensationFields: readonly string[] = [...compensationKinds, ...policyFields];

function readCompensation(step: ObjectReader, context: WorkContext): Compensation | undefined {
  if (!step.has("compensate")) return undefined;
  const path = step.pathOf("compensate");
  const example = '{"task": {"queue": "crm", "type": "lead.unassign"}}';
  const known = { known: compensationFields, example, what: "compensate" };
  const compensation = ObjectReader.open(step.get("compensate"), path, context.violations, known);
  if (compensation === undefined) return undefined;
  const work = readWork(compensation, compensationKinds, context);
  const retry = parseRetry(compensation.get("retry"), compensation.pathOf("retry"), context.violations);
  const timeout = parseStepTimeout(compensation.get("timeout"), compensation.pathOf("timeout"), context.violations);
  return work === undefined ? undefined : { work, retry, timeout };
}
