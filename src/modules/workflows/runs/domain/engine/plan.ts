import { type CelVariables, elementTypeOf, typeOfSchema } from "../../../../../platform/cel/index.ts";
import type {
  Compensation,
  Definition,
  Json,
  JsonObject,
  RetryPolicy,
  Step,
  StepTimeout,
  StreamAppendWork,
  StreamReadWork,
  WaitEventWork,
  Work,
} from "../../../definitions/index.ts";
import { parseStepKey, type StepKey } from "./step-key.ts";
import { compileTemplate, expressionVariables, type Template } from "./template.ts";

/** A published version of a definition, compiled for execution. */
export interface Plan {
  readonly definitionId: string;
  readonly key: string;
  readonly version: number;
  readonly timeoutMs: number;
  readonly onFailure: "fail" | "compensate";
  readonly root: PlanList;
  /** All steps, by id. */
  readonly steps: ReadonlyMap<string, PlanStep>;
  /** Undefined: the output of the last step. */
  readonly output: Template | undefined;
  /** Whether a step takes updates. */
  readonly takesUpdates: boolean;
}

/** A list of steps that run one after another. */
export interface PlanList {
  readonly steps: readonly PlanStep[];
  readonly owner: ListOwner;
}

/** The part of a definition that a list belongs to. */
export type ListOwner =
  | { readonly kind: "run" }
  | { readonly kind: "arm"; readonly step: PlanStep }
  | { readonly kind: "catch"; readonly step: PlanStep }
  | { readonly kind: "timeout"; readonly step: PlanStep }
  | { readonly kind: "parallel"; readonly step: PlanStep; readonly name: string }
  | { readonly kind: "map"; readonly step: PlanStep };

/** A step that is executed: a step of the definition, or a compensation. */
export interface PlanUnit {
  readonly id: string;
  readonly work: PlanWork;
  /** Undefined if failures are final. */
  readonly retry: RetryPolicy | undefined;
  readonly timeout: StepTimeout;
}

/** A step of the definition. */
export interface PlanStep extends PlanUnit {
  readonly list: PlanList;
  readonly position: number;
  /** The number of maps around it. */
  readonly depth: number;
  /** The innermost map around it, whose element is the variable `item`. The catch of a map is outside of the map. */
  readonly map: PlanStep | undefined;
  /** The steps around it, the outermost first. */
  readonly ancestors: readonly PlanStep[];
  readonly catches: readonly { readonly on: ReadonlySet<string>; readonly list: PlanList }[];
  readonly compensate: PlanUnit | undefined;
}

const effectKinds = ["route", "notify", "action", "experiment", "subworkflow", "stream_append", "stream_read"] as const;

/** A kind of work that the service performs after the commit. */
export type EffectKind = (typeof effectKinds)[number];

/** Whether the service performs work of a kind after the commit. */
export function isEffectKind(kind: PlanWork["kind"]): kind is EffectKind {
  return (effectKinds as readonly string[]).includes(kind);
}

/** The work of a step, with compiled templates. */
export type PlanWork =
  | {
      readonly kind: "task";
      readonly queue: string;
      readonly type: string;
      readonly version: string;
      readonly request: Template;
    }
  | { readonly kind: EffectKind; readonly request: Template }
  | {
      readonly kind: "branch";
      readonly arms: readonly { readonly when: Template | undefined; readonly list: PlanList }[];
    }
  | { readonly kind: "parallel"; readonly branches: ReadonlyMap<string, PlanList>; readonly collect: boolean }
  | {
      readonly kind: "map";
      readonly in: Template;
      readonly maxItems: number;
      readonly maxParallel: number;
      readonly collect: boolean;
      readonly list: PlanList;
    }
  | {
      readonly kind: "wait_event";
      readonly any: readonly { readonly event: string; readonly scope: Template }[];
      readonly timeoutMs: number;
      readonly onTimeout: PlanList | undefined;
      /** Undefined for plain events. */
      readonly update: PlanUpdate | undefined;
    }
  | {
      readonly kind: "wait_timer";
      readonly forMs: number | undefined;
      readonly for: Template | undefined;
      readonly until: Template | undefined;
    }
  | {
      readonly kind: "approval";
      readonly by: readonly string[];
      readonly quorum: number;
      readonly timeoutMs: number;
      readonly onTimeout: PlanList | undefined;
      readonly commentRequired: boolean;
      readonly request: Template;
    }
  | { readonly kind: "transform"; readonly value: Template }
  | { readonly kind: "fail"; readonly code: string; readonly message: Template }
  | { readonly kind: "continue_as_new"; readonly input: Template };

/** How a wait takes an update. */
export interface PlanUpdate {
  readonly schema: JsonObject | undefined;
  readonly when: Template | undefined;
  /** The id of the step whose output answers the caller. */
  readonly answer: string;
}

/** The step or compensation of a key. */
export function unitOf(plan: Plan, key: StepKey): PlanUnit {
  const isCompensation = key.startsWith("~");
  const step = plan.steps.get(parseStepKey(isCompensation ? key.slice(1) : key).id)!;
  return isCompensation ? step.compensate! : step;
}

/** The kinds that are retried with the definition's policy when they have none. */
const retriedKinds: readonly string[] = [
  ...["task", "route", "notify", "action", "experiment", "stream_append", "stream_read"],
];

/** Compiles a checked definition. */
export function createPlan(
  definition: Definition,
  definitionId: string,
  version: number,
  defaultRetry: RetryPolicy,
): Plan {
  const steps = new Map<string, PlanStep>();
  const { retry = defaultRetry } = definition;

  function planList(
    list: readonly Step[],
    owner: ListOwner,
    ancestors: readonly PlanStep[],
    depth: number,
    variables: CelVariables,
  ): PlanList {
    const planned: PlanStep[] = [];
    const planList = { steps: planned, owner };
    for (const step of list) planned.push(planStep(step, planList, planned.length, ancestors, depth, variables));
    return planList;
  }

  function planStep(
    step: Step,
    list: PlanList,
    position: number,
    ancestors: readonly PlanStep[],
    depth: number,
    variables: CelVariables,
  ): PlanStep {
    // Lists inside a step refer to it, so it is completed after it exists.
    const planned = {
      ...{ id: step.id, list, position, depth, ancestors, timeout: step.timeout, map: mapAround(list.owner) },
      retry: retryOf(step.work, step.retry, retry),
      compensate: step.compensate && planCompensation(step.id, step.compensate, retry, variables),
    } as { -readonly [name in keyof PlanStep]: PlanStep[name] };
    const inside: PlanInside = (steps, owner, deeper = 0, own = variables) =>
      planList(steps, owner, [...ancestors, planned], depth + deeper, own);
    planned.work = planWork(step.work, planned, inside, variables);
    planned.catches = step.catch.map(({ on, steps }) => ({
      on: new Set(on),
      list: inside(steps, { kind: "catch", step: planned }),
    }));
    steps.set(step.id, planned);
    return planned;
  }

  const variables = expressionVariables(definition);
  const root = planList(definition.steps, { kind: "run" }, [], 0, variables);
  return {
    ...{ definitionId, version, key: definition.key, timeoutMs: definition.timeoutMs, onFailure: definition.onFailure },
    ...{ root, steps },
    output: definition.output === undefined ? undefined : compileTemplate(definition.output, variables),
    takesUpdates: [...steps.values()].some(({ work }) => work.kind === "wait_event" && work.update !== undefined),
  };
}

function mapAround(owner: ListOwner): PlanStep | undefined {
  if (owner.kind === "run") return undefined;
  return owner.kind === "map" ? owner.step : owner.step.map;
}

function retryOf(work: Work, own: RetryPolicy | undefined, common: RetryPolicy): RetryPolicy | undefined {
  return own ?? (retriedKinds.includes(work.kind) ? common : undefined);
}

function planCompensation(
  stepId: string,
  { work, retry, timeout }: Compensation,
  common: RetryPolicy,
  variables: CelVariables,
): PlanUnit {
  return { id: `~${stepId}`, work: planLeaf(work, variables), retry: retryOf(work, retry, common), timeout };
}

function planUpdate(id: string, { update }: WaitEventWork, variables: CelVariables): PlanUpdate | undefined {
  if (update === undefined) return undefined;
  const { inputSchema: schema, when, answer } = update;
  const declared = { ...variables, update: typeOfSchema(schema) };
  return { schema, when: when === undefined ? undefined : compileTemplate(when, declared), answer: answer || id };
}

type PlanInside = (steps: readonly Step[], owner: ListOwner, deeper?: number, variables?: CelVariables) => PlanList;

function planWork(work: Work, step: PlanStep, inside: PlanInside, variables: CelVariables): PlanWork {
  switch (work.kind) {
    case "branch": {
      const arm = (steps: readonly Step[]) => inside(steps, { kind: "arm", step });
      const arms: { when: Template | undefined; list: PlanList }[] = work.arms.map(({ when, steps }) => ({
        when: compileTemplate(when, variables),
        list: arm(steps),
      }));
      if (work.otherwise !== undefined) arms.push({ when: undefined, list: arm(work.otherwise) });
      return { kind: "branch", arms };
    }
    case "parallel": {
      const branches = work.branches.map(
        ({ name, steps }) => [name, inside(steps, { kind: "parallel", step, name })] as const,
      );
      return { kind: "parallel", branches: new Map(branches), collect: work.onError === "collect" };
    }
    case "map": {
      const { maxItems, maxParallel } = work;
      const item = elementTypeOf(work.in, variables);
      const list = inside(work.steps, { kind: "map", step }, 1, { ...variables, item });
      return {
        kind: "map",
        in: compileTemplate(work.in, variables),
        maxItems,
        maxParallel,
        list,
        collect: work.onError === "collect",
      };
    }
    case "wait_event": {
      const any = work.any.map(({ event, scope }) => ({ event, scope: compileTemplate(scope, variables) }));
      const onTimeout = work.onTimeout && inside(work.onTimeout, { kind: "timeout", step });
      return {
        kind: "wait_event",
        any,
        timeoutMs: work.timeoutMs,
        onTimeout,
        update: planUpdate(step.id, work, variables),
      };
    }
    case "approval": {
      const { by, quorum, timeoutMs, commentRequired, title, details } = work;
      const onTimeout = work.onTimeout && inside(work.onTimeout, { kind: "timeout", step });
      const request = compileTemplate({ title, details }, variables);
      return { kind: "approval", by, quorum, timeoutMs, commentRequired, onTimeout, request };
    }
    case "wait_timer":
      return {
        kind: "wait_timer",
        forMs: work.forMs,
        for: work.for === undefined ? undefined : compileTemplate(work.for, variables),
        until: work.until === undefined ? undefined : compileTemplate(work.until, variables),
      };
    case "transform":
      return { kind: "transform", value: compileTemplate(work.value, variables) };
    case "fail":
      return { kind: "fail", code: work.code, message: compileTemplate(work.message, variables) };
    case "continue_as_new":
      return { kind: "continue_as_new", input: compileTemplate(work.input, variables) };
    case "task":
    case "route":
    case "notify":
    case "action":
    case "subworkflow":
    case "stream_append":
    case "stream_read":
      return planLeaf(work, variables);
    case "experiment": {
      const { key, unit, attributes, covariates } = work;
      return { kind: "experiment", request: compileRequest(variables, { key, unit, attributes, covariates }) };
    }
  }
}

function planLeaf(work: Compensation["work"] | StreamAppendWork | StreamReadWork, variables: CelVariables): PlanWork {
  switch (work.kind) {
    case "task": {
      const { queue, type, version } = work;
      return { kind: "task", queue, type, version, request: compileTemplate(work.with, variables) };
    }
    case "route": {
      const { pool, type, key, attributes, requirements, payload, priority } = work;
      return {
        kind: "route",
        request: compileRequest(variables, { pool, type, key, attributes, requirements, payload, priority }),
      };
    }
    case "notify": {
      const { workflowKey, to, channels, payload } = work;
      return {
        kind: "notify",
        request: compileRequest(variables, { workflow_key: workflowKey, to, channels, payload }),
      };
    }
    case "action": {
      const { action, connection } = work;
      return { kind: "action", request: compileRequest(variables, { action, connection, input: work.with }) };
    }
    case "subworkflow": {
      const { key, version, input } = work;
      return { kind: "subworkflow", request: compileRequest(variables, { key, version, input }) };
    }
    case "stream_append": {
      const { stream, value, contentClass, schemaRef, pins } = work;
      const request = { stream, value, content_class: contentClass, schema_ref: schemaRef };
      // Pins are constants, so they are not evaluated.
      return {
        kind: "stream_append",
        request: compileRequest(variables, { ...request, pins: pins && JSON.stringify(pins) }),
      };
    }
    case "stream_read": {
      const { stream, cursor, limit } = work;
      return { kind: "stream_read", request: compileRequest(variables, { stream, cursor, limit }) };
    }
  }
}

/** Compiles the request of an effect, without the fields that the definition leaves out. */
function compileRequest(variables: CelVariables, fields: Readonly<Record<string, Json | undefined>>): Template {
  const present = Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return compileTemplate(Object.fromEntries(present), variables);
}
