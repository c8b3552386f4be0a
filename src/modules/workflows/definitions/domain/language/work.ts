import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  ObjectReader,
  readDuration,
} from "../../../../../platform/document/index.ts";
import {
  type Complete,
  choice,
  defineObject,
  integer,
  type Member,
  objectSchema,
  optional,
  optionalText,
  optionalTexts,
  type ReadContext,
  text,
  textSchema,
  texts,
  type ValuesOf,
} from "../../../../../platform/json-schema/index.ts";
import { durationSource, isTimestampText, timestampSource } from "../../../../../platform/text/index.ts";
import { formats, limits, reservedNames } from "./limits.ts";
import {
  expressionSchema,
  isExpressionText,
  requiredDuration,
  requiredTemplate,
  stepsSchema,
  template,
  templateOr,
} from "./members.ts";
import type { RetryPolicy, StepTimeout } from "./policy.ts";
import { checkName, connection, eventMembers, events, mapped, pins, receiver, update, when } from "./work-members.ts";

/** A step of a definition. */
export interface Step extends Retryable {
  readonly id: string;
  readonly work: Work;
  readonly catch: readonly Catch[];
  readonly compensate: Compensation | undefined;
}

/** How often a step is tried, and how long it may take. */
export interface Retryable {
  readonly retry: RetryPolicy | undefined;
  readonly timeout: StepTimeout;
}

/** Steps that run when their step fails with one of the codes; `*` is any code. */
export interface Catch {
  readonly on: readonly string[];
  readonly steps: readonly Step[];
}

/** A step that undoes another one. Its errors are never caught. */
export interface Compensation extends Retryable {
  readonly work: WorkOf<(typeof compensationKinds)[number]>;
}

/** Passed to the readers of work: the current step, and how to read steps inside it. */
export interface WorkContext extends ReadContext {
  /** The step whose work is read. */
  readonly step: ObjectReader;
  /** Reads a list of steps inside the current one. It may be empty. */
  steps(value: Json | undefined, path: string): readonly Step[];
}

/** A kind of work: its JSON Schema and its reader. */
interface Kind<T> {
  readonly schema: JsonObject;
  read(value: Json, path: string, context: WorkContext): T | undefined;
}

type Members = Readonly<Record<string, Member<unknown, WorkContext>>>;

/** A kind of work that is an object. `complete` checks or adds what is not a member of its own. */
function objectKind<K extends string, M extends Members, T extends object = ValuesOf<M>>(
  kind: K,
  example: string,
  members: M,
  complete?: Complete<M, WorkContext, T>,
): Kind<{ readonly kind: K } & T> {
  const { schema, read } = defineObject<M, WorkContext, T>(kind, example, members, complete);
  return {
    schema,
    read(value, path, context) {
      const work = read(value, path, context);
      return work && { kind, ...work };
    },
  };
}

function steps(name: string): Member<readonly Step[], WorkContext> {
  return {
    ...{ name, schema: stepsSchema, isRequired: true },
    read(reader, context) {
      const value = reader.required(name, '[{"id": "note", "transform": 1}]');
      return value === undefined ? [] : context.steps(value, reader.pathOf(name));
    },
  };
}

/** The steps that run when a wait ends without its event or its decision. */
const onTimeout: Member<readonly Step[] | undefined, WorkContext> = {
  ...{ name: "on_timeout", schema: stepsSchema, isRequired: false },
  read: (reader, context) =>
    reader.has("on_timeout") ? context.steps(reader.get("on_timeout"), reader.pathOf("on_timeout")) : undefined,
};

const onError = choice("on_error", ["fail", "collect"], "fail");

/** The input of a task or an action, which is a member of the step. */
function readInput({ step }: WorkContext): Json {
  return step.nested("with", limits.templateDepth) ?? {};
}

const arm = defineObject("an arm", '{"when": "=input.vip", "steps": []}', { when, steps: steps("steps") });
const elseArm = defineObject("the else arm", '{"else": []}', {
  otherwise: {
    ...{ name: "else", schema: stepsSchema, isRequired: true },
    read: (reader: ObjectReader, context: WorkContext) => context.steps(reader.get("else"), reader.pathOf("else")),
  },
});

interface BranchWork {
  readonly kind: "branch";
  readonly arms: readonly { readonly when: string; readonly steps: readonly Step[] }[];
  /** The arm that runs when no condition is true; undefined if there is none. */
  readonly otherwise: readonly Step[] | undefined;
}

const branch: Kind<BranchWork> = {
  schema: {
    ...{ type: "array", minItems: 1, maxItems: limits.arms },
    prefixItems: [arm.schema],
    items: { oneOf: [arm.schema, elseArm.schema] },
  },
  read(value, path, context) {
    const { violations } = context;
    if (!Array.isArray(value) || value.length === 0 || value.length > limits.arms) {
      const example = '[{"when": "=input.vip", "steps": []}, {"else": []}]';
      return violations.add(path, "list", `must be a list of 1 to ${limits.arms} arms, for example ${example}`);
    }
    const arms: BranchWork["arms"][number][] = [];
    let otherwise: readonly Step[] | undefined;
    for (const [at, element] of (value as readonly Json[]).entries()) {
      if (violations.isFull) break;
      const armPath = `${path}[${at}]`;
      if (typeof element !== "object" || element === null || !Object.hasOwn(element, "else")) {
        const read = arm.read(element, armPath, context);
        if (read !== undefined) arms.push(read);
        continue;
      }
      const reader = elseArm.open(element, armPath, context);
      if (reader === undefined) continue;
      if (at !== value.length - 1) violations.add(armPath, "else_last", "must be the last arm: move else to the end");
      if (at === 0)
        violations.add(armPath, "required", 'must follow an arm with a condition: {"when": "=input.vip", "steps": []}');
      ({ otherwise } = elseArm.readMembers(reader, context));
    }
    return { kind: "branch", arms, otherwise };
  },
};

const branches: Member<readonly { readonly name: string; readonly steps: readonly Step[] }[], WorkContext> = {
  name: "branches",
  schema: {
    ...{ type: "object", minProperties: limits.branches.min, maxProperties: limits.branches.max },
    propertyNames: { ...textSchema(formats.stepId), not: { enum: reservedNames } },
    additionalProperties: stepsSchema,
  },
  isRequired: true,
  read(parallel, { violations, steps }) {
    const written = parallel.required("branches", '{"legal": [], "credit": []}');
    if (written === undefined) return [];
    const { min, max } = limits.branches;
    const named = isJsonObject(written) ? Object.entries(written) : [];
    if (named.length < min || named.length > max) {
      const message = `must be an object with ${min} to ${max} branches, for example {"legal": [], "credit": []}`;
      parallel.refuse("branches", "branches", message);
      return [];
    }
    const read: { name: string; steps: readonly Step[] }[] = [];
    for (const [name, value] of named) {
      if (violations.isFull) break;
      const path = memberPath(parallel.pathOf("branches"), name);
      checkName(name, path, "the name of a branch", violations);
      read.push({ name, steps: steps(value, path) });
    }
    return read;
  },
};

const waiting = { timeoutMs: requiredDuration("timeout", "7d"), onTimeout };
const waitExample = '{"event": "contract.signed", "timeout": "7d"}';
const waitForOne = defineObject("wait_event", waitExample, { ...eventMembers, ...waiting, update });
const waitForAny = defineObject("wait_event", waitExample, { any: events, ...waiting });

interface WaitEventWork {
  readonly kind: "wait_event";
  /** The events of which the first ends the wait. A scope is a template. */
  readonly any: readonly ValuesOf<typeof eventMembers>[];
  readonly timeoutMs: number;
  readonly onTimeout: readonly Step[] | undefined;
  /** Undefined for plain events. */
  readonly update?: ValuesOf<{ readonly update: typeof update }>["update"] | undefined;
  /** Whether the one event is written without `any`. Only the paths of violations depend on it. */
  readonly short?: boolean;
}

const waitEvent: Kind<WaitEventWork> = {
  schema: { oneOf: [waitForOne.schema, waitForAny.schema] },
  read(value, path, context) {
    const known = ["event", "scope", "any", "timeout", "on_timeout", "update"];
    const rule = { known, example: waitExample, what: "wait_event" };
    const wait = ObjectReader.open(value, path, context.violations, rule);
    if (wait === undefined) return undefined;
    if (wait.has("any")) {
      return { kind: "wait_event", ...waitForAny.readMembers(wait, context), short: false };
    }
    const { event, scope, ...rest } = waitForOne.readMembers(wait, context);
    return { kind: "wait_event", any: [{ event, scope }], ...rest, short: true };
  },
};

interface WaitTimerWork {
  readonly kind: "wait_timer";
  /** Exactly one is present: a duration in milliseconds, or a template of a duration (for) or of a time (until). */
  readonly forMs: number | undefined;
  readonly for: string | undefined;
  readonly until: string | undefined;
}

const timerSchemas = { for: durationSource, until: timestampSource };

const waitTimer: Kind<WaitTimerWork> = {
  schema: {
    oneOf: Object.entries(timerSchemas).map(([name, pattern]) =>
      objectSchema({ [name]: { anyOf: [{ type: "string", pattern }, expressionSchema] } }, [name]),
    ),
  },
  read(value, path, { violations }) {
    const rule = { known: Object.keys(timerSchemas), example: '{"for": "10m"}', what: "wait_timer" };
    const timer = ObjectReader.open(value, path, violations, rule);
    if (timer === undefined) return undefined;
    if (timer.has("for") === timer.has("until")) {
      return violations.add(path, "choice", 'must have either for or until, for example {"for": "10m"}');
    }
    const none = { kind: "wait_timer" as const, forMs: undefined, for: undefined, until: undefined };
    if (timer.has("for")) {
      const written = timer.get("for")!;
      if (isExpressionText(written)) return { ...none, for: written };
      const forMs = readDuration(written, timer.pathOf("for"), { zero: true, example: "10m" }, violations);
      return { ...none, forMs: forMs ?? 0 };
    }
    const until = timer.get("until")!;
    if (typeof until === "string" && (isExpressionText(until) || isTimestampText(until))) return { ...none, until };
    const message = 'must be an expression or a time of RFC 3339, for example "2030-01-31T09:00:00Z"';
    return timer.refuse("until", "timestamp", message);
  },
};

interface TransformWork {
  readonly kind: "transform";
  /** A template. */
  readonly value: Json;
}

const transform: Kind<TransformWork> = {
  schema: template("transform").schema,
  read(_value, _path, { step }) {
    const value = step.nested("transform", limits.templateDepth);
    return value === undefined ? undefined : { kind: "transform", value };
  },
};

/** The kinds of work, by the member of a step that has it. */
export const workKinds = {
  task: objectKind(
    "task",
    '{"queue": "ml", "type": "lead.score"}',
    {
      queue: text("queue", formats.name),
      type: text("type", formats.name),
      /** A range of versions; empty if any version will do. */
      version: optionalText("version", formats.versionRange),
      /** The codes that workers may fail with. */
      errors: optionalTexts("errors", formats.code, { min: 0, max: limits.codes }, '["quota"]'),
    },
    ({ errors = [], ...task }, _reader, context) => ({ ...task, errors, with: readInput(context) }),
  ),
  // Templates that are undefined are left out of the item.
  route: objectKind("route", '{"pool": "sales", "key": "=input.id"}', {
    /** The name or the id of a pool. */
    pool: text("pool", formats.pool),
    type: template("type"),
    key: template("key"),
    attributes: template("attributes"),
    requirements: template("requirements"),
    payload: template("payload"),
    priority: template("priority"),
  }),
  notify: objectKind("notify", '{"workflow_key": "welcome", "to": "=input.user"}', {
    workflowKey: text("workflow_key", formats.workflowKey),
    to: receiver,
    channels: template("channels"),
    payload: template("payload"),
  }),
  action: objectKind(
    "action",
    '{"action": "github.issue.create", "connection": "=input.connection"}',
    {
      /** The key of a connector action. */
      action: text("action", formats.actionKey),
      connection,
    },
    (action, _reader, context) => {
      const input = readInput(context);
      if (!isJsonObject(input) && !isExpressionText(input)) {
        const message = 'must be an object or an expression: the input of the action, for example {"title": "Hi"}';
        context.step.refuse("with", "type", message);
      }
      return { ...action, with: input };
    },
  ),
  subworkflow: objectKind("subworkflow", '{"key": "lead.enrich", "input": {"id": "=input.id"}}', {
    key: text("key", formats.key),
    /** Undefined: the active version when the step starts. */
    version: optional(integer("version", { min: 1, max: limits.versionMax })),
    input: templateOr("input", {}),
  }),
  branch,
  parallel: objectKind("parallel", '{"branches": {"legal": [], "credit": []}}', { branches, onError }),
  map: objectKind(
    "map",
    '{"in": "=input.documents", "max_items": 1000, "steps": []}',
    {
      in: mapped,
      maxItems: integer("max_items", { min: 1, max: limits.mapItems }),
      maxParallel: integer("max_parallel", { min: 1, max: limits.mapParallel }, 10),
      onError,
      steps: steps("steps"),
    },
    (map, reader) => {
      const list = reader.get("in");
      if (Array.isArray(list) && list.length > map.maxItems) {
        reader.refuse("in", "range", `must have at most max_items (${map.maxItems}) elements, not ${list.length}`);
      }
      return map;
    },
  ),
  wait_event: waitEvent,
  wait_timer: waitTimer,
  approval: objectKind(
    "approval",
    '{"by": ["role:operator"], "timeout": "2d"}',
    {
      /** `role:` or `user:` with a name. */
      by: texts("by", formats.approver, { min: 1, max: limits.approvers }, '["role:operator"]'),
      quorum: integer("quorum", { min: 1, max: limits.approvers }, 1),
      timeoutMs: requiredDuration("timeout", "2d"),
      /** Templates for the people who decide. */
      title: templateOr("title", ""),
      details: templateOr("details", {}),
      comment: choice("comment", ["optional", "required"], "optional"),
      onTimeout,
    },
    ({ comment, ...approval }) => ({ ...approval, commentRequired: comment === "required" }),
  ),
  transform,
  fail: objectKind("fail", '{"code": "unsigned", "message": "Nobody signed."}', {
    code: text("code", formats.code),
    message: templateOr("message", ""),
  }),
  continue_as_new: objectKind("continue_as_new", '{"input": {"cart": "=steps.cart"}}', {
    /** The input of the next run. */
    input: templateOr("input", {}),
  }),
  experiment: objectKind("experiment", '{"key": "checkout", "unit": "=input.user"}', {
    /** The key of an experiment of the run's environment. */
    key: text("key", formats.experimentKey),
    unit: requiredTemplate("unit", '"=input.user"', "", { type: ["string", "number"] }),
    attributes: template("attributes"),
    covariates: template("covariates"),
  }),
  stream_append: objectKind("stream_append", '{"stream": "audit", "value": "=input"}', {
    /** The name of a stream of the run. It is created if the run has none with this name. */
    stream: text("stream", formats.streamName),
    /** A template: the payload. */
    value: requiredTemplate("value", '"=input"', null),
    /** Empty for the only class of the stream. */
    contentClass: optionalText("content_class", formats.contentClass),
    schemaRef: optionalText("schema_ref", formats.schemaRef),
    pins,
  }),
  stream_read: objectKind("stream_read", '{"stream": "audit", "cursor": "=steps.before.next_cursor"}', {
    /** The name or the id of a stream of the run. */
    stream: text("stream", formats.streamName),
    /** A template: only records with a greater sequence; undefined for all. */
    cursor: template("cursor"),
    limit: integer("limit", { min: 1, max: limits.streamRecords }, 50),
  }),
};

/** The kinds of steps, as members of a step. */
export const stepKinds = Object.keys(workKinds) as Work["kind"][];

/** The kinds of steps that can undo others. */
export const compensationKinds = ["task", "route", "notify", "action", "subworkflow"] as const;

type Kinds = typeof workKinds;

/** The work of a step of some kinds. */
export type WorkOf<K extends keyof Kinds> = { [N in K]: Kinds[N] extends Kind<infer T> ? T : never }[K];

/** The work of a step. */
export type Work = WorkOf<keyof Kinds>;
