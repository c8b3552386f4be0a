import {
  checkDocumentSize,
  type DocumentViolation,
  type JsonObject,
  ObjectReader,
  Violations,
} from "../../../../../../platform/document/index.ts";
import {
  defineObject,
  type Member,
  objectSchema,
  objects,
  text,
  textSchema,
  texts,
} from "../../../../../../platform/json-schema/index.ts";
import {
  type Catch,
  type Compensation,
  type Definition,
  definitionObject,
  type Json,
  type Step,
  stepsExample,
  type Work,
} from "../definition.ts";
import { documentLimits, formats, limits, reservedNames } from "../limits.ts";
import { stepsSchema, templateSchema } from "../members.ts";
import { retry, timeout } from "../policy.ts";
import { compensationKinds, stepKinds, type WorkContext, type WorkOf, workKinds } from "../work.ts";
import { checkName } from "../work-members.ts";

/** A parsed document, or its violations. */
export type ParsedDefinition =
  | { readonly definition: Definition; readonly violations: readonly [] }
  | { readonly definition: undefined; readonly violations: readonly DocumentViolation[] };

/** State shared by all levels of one document. */
interface Parse {
  readonly violations: Violations;
  stepCount: number;
}

/**
 * Reads a document. It accepts any value, never throws, and takes time in proportion to the size of the document, which
 * is limited. It checks the structure only; `checkInSlices` checks what the parts mean together.
 */
export function parseDefinition(document: unknown): ParsedDefinition {
  const violations = new Violations();
  const parse = { violations, stepCount: 0 };
  const context = { violations, steps: (value: Json | undefined, path: string) => readSteps(value, path, 1, parse) };
  const definition = checkDocumentSize(document, violations, documentLimits)
    ? definitionObject.read(document as Json, "", context)
    : undefined;
  return definition === undefined || violations.list.length > 0
    ? { definition: undefined, violations: violations.list }
    : { definition, violations: [] };
}

function readSteps(value: Json | undefined, path: string, depth: number, parse: Parse): readonly Step[] {
  const { violations } = parse;
  if (!Array.isArray(value)) {
    violations.add(path, "list", `must be a list of steps, for example ${stepsExample}`);
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

const id: Member<string> = {
  ...{ name: "id", schema: { ...textSchema(formats.stepId), not: { enum: reservedNames } }, isRequired: true },
  read(step, { violations }) {
    const read = text("id", formats.stepId).read(step, { violations });
    if (read !== "") checkName(read, step.pathOf("id"), "a step's id", violations);
    return read;
  },
};

const caught = defineObject("an entry of catch", '{"on": ["*"], "steps": []}', {
  on: texts("on", formats.caughtCode, { min: 1, max: limits.codes }, '["*"]'),
  steps: {
    ...{ name: "steps", schema: stepsSchema, isRequired: true },
    read(entry: ObjectReader, context: WorkContext) {
      const steps = entry.required("steps", '[{"id": "fallback", "transform": 0}]');
      return steps === undefined ? [] : context.steps(steps, entry.pathOf("steps"));
    },
  },
});

const catches: Member<readonly Catch[], WorkContext> = objects(
  "catch",
  caught,
  { min: 1, max: limits.catches },
  '[{"on": ["*"], "steps": []}]',
);

const compensate: Member<Compensation | undefined, WorkContext> = {
  ...{ name: "compensate", schema: { $ref: "#/$defs/compensate" }, isRequired: false },
  read(step, context) {
    if (!step.has("compensate")) return undefined;
    const { violations } = context;
    const reader = ObjectReader.open(step.get("compensate"), step.pathOf("compensate"), violations, compensationRule);
    if (reader === undefined) return undefined;
    const work = readWork(reader, compensationKinds, context);
    const read = { retry: retry.read(reader, context), timeout: timeout.read(reader, context) };
    return work && { work, ...read };
  },
};

/** The schema of a step that undoes another one. */
export const compensationSchema = schemaWithWork(compensationKinds, []);

export const stepSchema = schemaWithWork(stepKinds, [id], [catches, compensate]);

const compensationExample = '{"task": {"queue": "crm", "type": "lead.unassign"}}';
const compensationRule = { known: namesIn(compensationSchema), example: compensationExample, what: "compensate" };
const stepExample = '{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}';
const stepRule = { known: namesIn(stepSchema), example: stepExample, what: "a step" };

function readStep(value: Json, path: string, depth: number, parse: Parse): Step | undefined {
  const { violations } = parse;
  const step = ObjectReader.open(value, path, violations, stepRule);
  if (step === undefined) return undefined;
  const steps = (inner: Json | undefined, innerPath: string) => readSteps(inner, innerPath, depth + 1, parse);
  const context = { violations, step, steps };
  const read = {
    id: id.read(step, context),
    work: readWork(step, stepKinds, context),
    catch: catches.read(step, context),
    retry: retry.read(step, context),
    timeout: timeout.read(step, context),
    compensate: compensate.read(step, context),
  };
  return read.work && { ...read, work: read.work };
}

/** Reads the one kind of a step. */
function readWork<K extends Work["kind"]>(
  step: ObjectReader,
  kinds: readonly K[],
  context: WorkContext,
): WorkOf<K> | undefined {
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
  return workKinds[kind].read(step.get(kind)!, step.pathOf(kind), { ...context, step }) as WorkOf<K> | undefined;
}

/** The schema of an object with one kind of work and its policies, between other members. */
function schemaWithWork(kinds: readonly string[], before: readonly AnyMember[], after: readonly AnyMember[] = []) {
  const input = { ...templateSchema, description: "The input of a task or an action." };
  const schemas = (members: readonly AnyMember[]) => members.map(({ name, schema }) => [name, schema] as const);
  const refs = kinds.map((kind) => [kind, { $ref: `#/$defs/${kind}` }] as const);
  const members = [...schemas(before), ...refs, ["with", input] as const, ...schemas([retry, timeout, ...after])];
  return {
    ...objectSchema(
      Object.fromEntries(members),
      before.map(({ name }) => name),
    ),
    oneOf: kinds.map((kind) => ({ required: [kind] })),
    // Only tasks and actions have `with`.
    dependentSchemas: { with: { anyOf: ["task", "action"].map((kind) => ({ required: [kind] })) } },
  };
}

type AnyMember = Pick<Member<unknown>, "name" | "schema">;

function namesIn({ properties }: JsonObject): readonly string[] {
  return Object.keys(properties as JsonObject);
}
