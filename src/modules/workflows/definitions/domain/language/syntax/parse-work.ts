import { isExpression } from "../../../../../../platform/cel/index.ts";
import {
  memberPath,
  ObjectReader,
  readDuration,
  shortName,
  type Violations,
} from "../../../../../../platform/document/index.ts";
import { isTimestampText } from "../../../../../../platform/text/index.ts";
import type {
  ActionWork,
  ApprovalWork,
  BranchWork,
  ExperimentWork,
  FailWork,
  Json,
  JsonObject,
  MapWork,
  NotifyWork,
  ParallelWork,
  RouteWork,
  Step,
  StreamAppendWork,
  StreamReadWork,
  SubworkflowWork,
  TaskWork,
  TransformWork,
  WaitEventWork,
  WaitTimerWork,
  Work,
} from "../definition.ts";
import { formats, limits, reservedNames } from "../limits.ts";

/** What readers of work need from the reader of steps. */
export interface WorkContext {
  readonly violations: Violations;
  /** Reads a list of steps inside the current one. It may be empty. */
  steps(value: Json | undefined, path: string): readonly Step[];
}

type WorkParser = (value: Json, path: string, step: ObjectReader, context: WorkContext) => Work | undefined;

/** The fields of each kind. */
export const workFields = {
  task: ["queue", "type", "version", "errors"],
  route: ["pool", "type", "key", "attributes", "requirements", "payload", "priority"],
  notify: ["workflow_key", "to", "channels", "payload"],
  action: ["action", "connection"],
  experiment: ["key", "unit", "attributes", "covariates"],
  subworkflow: ["key", "version", "input"],
  arm: ["when", "steps"],
  parallel: ["branches", "on_error"],
  map: ["in", "max_items", "max_parallel", "on_error", "steps"],
  wait_event: ["event", "scope", "any", "timeout", "on_timeout"],
  event: ["event", "scope"],
  wait_timer: ["for", "until"],
  approval: ["by", "quorum", "timeout", "title", "details", "comment", "on_timeout"],
  fail: ["code", "message"],
  stream_append: ["stream", "value", "content_class", "schema_ref", "pins"],
  stream_read: ["stream", "cursor", "limit"],
} as const;

const onErrors = ["fail", "collect"] as const;

/** The reader of each kind of work. */
export const workParsers: Readonly<Record<Work["kind"], WorkParser>> = {
  task: parseTask,
  route: parseRoute,
  notify: parseNotify,
  action: parseAction,
  subworkflow: parseSubworkflow,
  branch: parseBranch,
  parallel: parseParallel,
  map: parseMap,
  wait_event: parseWaitEvent,
  wait_timer: parseWaitTimer,
  approval: parseApproval,
  transform: parseTransform,
  fail: parseFail,
  experiment: parseExperiment,
  stream_append: parseStreamAppend,
  stream_read: parseStreamRead,
};

function parseTask(value: Json, path: string, step: ObjectReader, { violations }: WorkContext): TaskWork | undefined {
  const example = '{"queue": "ml", "type": "lead.score"}';
  const task = ObjectReader.open(value, path, violations, { known: workFields.task, example, what: "task" });
  if (task === undefined) return undefined;
  return {
    kind: "task",
    queue: task.text("queue", formats.name) ?? "",
    type: task.text("type", formats.name) ?? "",
    version: task.text("version", formats.versionRange, "") ?? "",
    errors: task.textList("errors", formats.code, { min: 0, max: limits.codes }, '["quota"]') ?? [],
    with: step.nested("with", limits.templateDepth) ?? {},
  };
}

function parseRoute(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): RouteWork | undefined {
  const example = '{"pool": "sales", "key": "=input.id"}';
  const route = ObjectReader.open(value, path, violations, { known: workFields.route, example, what: "route" });
  if (route === undefined) return undefined;
  return {
    kind: "route",
    pool: route.text("pool", formats.pool) ?? "",
    type: route.nested("type", limits.templateDepth),
    key: route.nested("key", limits.templateDepth),
    attributes: route.nested("attributes", limits.templateDepth),
    requirements: route.nested("requirements", limits.templateDepth),
    payload: route.nested("payload", limits.templateDepth),
    priority: route.nested("priority", limits.templateDepth),
  };
}

const addresses = ["subscriber_external_id", "subscriber_id", "topic"] as const;

function parseNotify(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): NotifyWork | undefined {
  const example = '{"workflow_key": "welcome", "to": "=input.user"}';
  const notify = ObjectReader.open(value, path, violations, { known: workFields.notify, example, what: "notify" });
  if (notify === undefined) return undefined;
  const to = notify.required("to", '"=input.user"') ?? "";
  if (typeof to === "object" && to !== null && !Array.isArray(to)) {
    const known = { known: addresses, example: '{"topic": "news"}', what: "to" };
    const address = ObjectReader.open(to, notify.pathOf("to"), violations, known)!;
    const named = addresses.filter((name) => address.has(name));
    if (named.length !== 1) {
      notify.refuse("to", "choice", `must have exactly one of ${addresses.join(", ")}, for example {"topic": "news"}`);
    }
  } else if (typeof to !== "string") {
    notify.refuse("to", "type", 'must be the external id of a subscriber or an object, for example "=input.user"');
  }
  return {
    kind: "notify",
    workflowKey: notify.text("workflow_key", formats.workflowKey) ?? "",
    to: notify.nested("to", limits.templateDepth) ?? "",
    channels: notify.nested("channels", limits.templateDepth),
    payload: notify.nested("payload", limits.templateDepth),
  };
}

function parseAction(
  value: Json,
  path: string,
  step: ObjectReader,
  { violations }: WorkContext,
): ActionWork | undefined {
  const example = '{"action": "github.issue.create", "connection": "=input.connection"}';
  const action = ObjectReader.open(value, path, violations, { known: workFields.action, example, what: "action" });
  if (action === undefined) return undefined;
  const connection = action.nested("connection", limits.templateDepth);
  if (connection !== undefined && typeof connection !== "string") {
    action.refuse("connection", "type", 'must be the id of a connection, for example "=input.connection"');
  }
  const input = step.nested("with", limits.templateDepth) ?? {};
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  if (!isObject && !(typeof input === "string" && isExpression(input))) {
    step.refuse(
      "with",
      "type",
      'must be an object or an expression: the input of the action, for example {"title": "Hi"}',
    );
  }
  return { kind: "action", action: action.text("action", formats.actionKey) ?? "", connection, with: input };
}

function parseExperiment(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): ExperimentWork | undefined {
  const example = '{"key": "checkout", "unit": "=input.user"}';
  const known = { known: workFields.experiment, example, what: "experiment" };
  const experiment = ObjectReader.open(value, path, violations, known);
  if (experiment === undefined) return undefined;
  experiment.required("unit", '"=input.user"');
  return {
    kind: "experiment",
    key: experiment.text("key", formats.experimentKey) ?? "",
    unit: experiment.nested("unit", limits.templateDepth) ?? "",
    attributes: experiment.nested("attributes", limits.templateDepth),
    covariates: experiment.nested("covariates", limits.templateDepth),
  };
}

function parseSubworkflow(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): SubworkflowWork | undefined {
  const example = '{"key": "lead.enrich", "input": {"id": "=input.id"}}';
  const known = { known: workFields.subworkflow, example, what: "subworkflow" };
  const subworkflow = ObjectReader.open(value, path, violations, known);
  if (subworkflow === undefined) return undefined;
  return {
    kind: "subworkflow",
    key: subworkflow.text("key", formats.key) ?? "",
    version: subworkflow.has("version")
      ? subworkflow.integer("version", { min: 1, max: limits.versionMax })
      : undefined,
    input: subworkflow.nested("input", limits.templateDepth) ?? {},
  };
}

function parseStreamAppend(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): StreamAppendWork | undefined {
  const example = '{"stream": "audit", "value": "=input"}';
  const known = { known: workFields.stream_append, example, what: "stream_append" };
  const append = ObjectReader.open(value, path, violations, known);
  if (append === undefined) return undefined;
  append.required("value", '"=input"');
  const pins = append.get("pins");
  const isObject = typeof pins === "object" && pins !== null && !Array.isArray(pins);
  if (pins !== undefined && !isObject) {
    append.refuse("pins", "type", 'must be an object, for example {"retention": {"max_age_s": 3600}}');
  }
  return {
    kind: "stream_append",
    stream: append.text("stream", formats.streamName) ?? "",
    value: append.nested("value", limits.templateDepth) ?? null,
    contentClass: append.text("content_class", formats.contentClass, "") ?? "",
    schemaRef: append.text("schema_ref", formats.schemaRef, "") ?? "",
    pins: isObject ? (pins as JsonObject) : undefined,
  };
}

function parseStreamRead(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): StreamReadWork | undefined {
  const example = '{"stream": "audit", "cursor": "=steps.before.next_cursor"}';
  const known = { known: workFields.stream_read, example, what: "stream_read" };
  const read = ObjectReader.open(value, path, violations, known);
  if (read === undefined) return undefined;
  return {
    kind: "stream_read",
    stream: read.text("stream", formats.streamName) ?? "",
    cursor: read.nested("cursor", limits.templateDepth),
    limit: read.integer("limit", { min: 1, max: limits.streamRecords }, 50) ?? 1,
  };
}

function parseBranch(value: Json, path: string, _step: ObjectReader, context: WorkContext): BranchWork | undefined {
  const { violations } = context;
  const example = '[{"when": "=input.vip", "steps": []}, {"else": []}]';
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.arms) {
    return violations.add(path, "list", `must be a list of 1 to ${limits.arms} arms, for example ${example}`);
  }
  const arms: BranchWork["arms"][number][] = [];
  let otherwise: readonly Step[] | undefined;
  for (const [at, element] of value.entries()) {
    if (violations.isFull) break;
    const armPath = `${path}[${at}]`;
    if (typeof element === "object" && element !== null && Object.hasOwn(element, "else")) {
      const known = { known: ["else"], example: '{"else": []}', what: "the else arm" };
      const arm = ObjectReader.open(element as Json, armPath, violations, known);
      if (arm === undefined) continue;
      if (at !== value.length - 1) violations.add(armPath, "else_last", "must be the last arm: move else to the end");
      if (at === 0)
        violations.add(armPath, "required", 'must follow an arm with a condition: {"when": "=input.vip", "steps": []}');
      otherwise = context.steps(arm.get("else"), arm.pathOf("else"));
      continue;
    }
    const known = { known: workFields.arm, example: '{"when": "=input.vip", "steps": []}', what: "an arm" };
    const arm = ObjectReader.open(element as Json, armPath, violations, known);
    if (arm === undefined) continue;
    arms.push({ when: readCondition(arm), steps: readSteps(arm, "steps", context) });
  }
  return { kind: "branch", arms, otherwise };
}

function readCondition(arm: ObjectReader): string {
  const when = arm.required("when", '"=input.vip"');
  if (typeof when === "string" && isExpression(when)) return when;
  if (when !== undefined)
    arm.refuse("when", "expression", 'must be an expression that starts with =, for example "=input.vip"');
  return "=false";
}

/** Reads a required list of steps. */
function readSteps(reader: ObjectReader, name: string, context: WorkContext): readonly Step[] {
  const value = reader.required(name, '[{"id": "note", "transform": 1}]');
  return value === undefined ? [] : context.steps(value, reader.pathOf(name));
}

function readOptionalSteps(reader: ObjectReader, name: string, context: WorkContext): readonly Step[] | undefined {
  return reader.has(name) ? context.steps(reader.get(name), reader.pathOf(name)) : undefined;
}

function parseParallel(value: Json, path: string, _step: ObjectReader, context: WorkContext): ParallelWork | undefined {
  const { violations } = context;
  const example = '{"branches": {"legal": [], "credit": []}}';
  const parallel = ObjectReader.open(value, path, violations, {
    known: workFields.parallel,
    example,
    what: "parallel",
  });
  if (parallel === undefined) return undefined;
  const onError = parallel.choice("on_error", onErrors, "fail");
  const written = parallel.required("branches", '{"legal": [], "credit": []}');
  if (written === undefined) return undefined;
  const { min, max } = limits.branches;
  const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
  const names = isObject ? Object.keys(written) : [];
  if (!isObject || names.length < min || names.length > max) {
    const message = `must be an object with ${min} to ${max} branches, for example {"legal": [], "credit": []}`;
    return parallel.refuse("branches", "branches", message);
  }
  const branches: ParallelWork["branches"][number][] = [];
  for (const name of names) {
    if (violations.isFull) break;
    const branchPath = memberPath(parallel.pathOf("branches"), name);
    checkName(name, branchPath, "the name of a branch", violations);
    branches.push({ name, steps: context.steps((written as Record<string, Json>)[name], branchPath) });
  }
  return { kind: "parallel", branches, onError };
}

/** Reports a name of a step or branch that is not allowed. */
export function checkName(name: string, path: string, what: string, violations: Violations): void {
  const { pattern, lengthMax, description } = formats.stepId;
  if (!pattern.test(name) || name.length > lengthMax) violations.add(path, "pattern", `${what} ${description}`);
  else if (reservedNames.includes(name)) {
    violations.add(path, "reserved_name", `${what} must not be ${shortName(name)}, which is reserved: choose another`);
  }
}

function parseMap(value: Json, path: string, _step: ObjectReader, context: WorkContext): MapWork | undefined {
  const example = '{"in": "=input.documents", "max_items": 1000, "steps": []}';
  const known = { known: workFields.map, example, what: "map" };
  const map = ObjectReader.open(value, path, context.violations, known);
  if (map === undefined) return undefined;
  const list = map.required("in", '"=input.documents"') ?? [];
  const isList = Array.isArray(list) || (typeof list === "string" && isExpression(list));
  if (!isList) map.refuse("in", "type", 'must be a list or an expression, for example "=input.documents"');
  const maxItems = map.integer("max_items", { min: 1, max: limits.mapItems }) ?? 1;
  if (Array.isArray(list) && list.length > maxItems) {
    map.refuse("in", "range", `must have at most max_items (${maxItems}) elements, not ${list.length}`);
  }
  return {
    kind: "map",
    in: map.nested("in", limits.templateDepth) ?? [],
    maxItems,
    maxParallel: map.integer("max_parallel", { min: 1, max: limits.mapParallel }, 10) ?? 1,
    onError: map.choice("on_error", onErrors, "fail"),
    steps: readSteps(map, "steps", context),
  };
}

function parseWaitEvent(
  value: Json,
  path: string,
  _step: ObjectReader,
  context: WorkContext,
): WaitEventWork | undefined {
  const { violations } = context;
  const example = '{"event": "contract.signed", "timeout": "7d"}';
  const wait = ObjectReader.open(value, path, violations, {
    known: workFields.wait_event,
    example,
    what: "wait_event",
  });
  if (wait === undefined) return undefined;
  const short = !wait.has("any");
  if (!short) {
    for (const name of ["event", "scope"]) {
      if (wait.has(name)) wait.refuse(name, "choice", "must be left out beside any: put it into an entry of any");
    }
  }
  const elements = wait.list("any", { min: 1, max: limits.events }, '[{"event": "contract.signed"}]') ?? [];
  const known = {
    known: workFields.event,
    example: '{"event": "contract.signed", "scope": "=input.id"}',
    what: "an event",
  };
  const any = elements.flatMap((element, at) => {
    const entry = ObjectReader.open(element, `${path}.any[${at}]`, violations, known);
    return entry === undefined ? [] : [readEvent(entry)];
  });
  return {
    kind: "wait_event",
    any: short ? [readEvent(wait)] : any,
    timeoutMs: wait.requiredDuration("timeout", { example: "7d" }) ?? 0,
    onTimeout: readOptionalSteps(wait, "on_timeout", context),
    short,
  };
}

function readEvent(entry: ObjectReader): WaitEventWork["any"][number] {
  const scope = entry.nested("scope", limits.templateDepth) ?? "";
  if (typeof scope === "object") entry.refuse("scope", "type", 'must be a text, for example "=input.id"');
  return { event: entry.text("event", formats.name) ?? "", scope };
}

function parseWaitTimer(
  value: Json,
  path: string,
  _step: ObjectReader,
  { violations }: WorkContext,
): WaitTimerWork | undefined {
  const known = { known: workFields.wait_timer, example: '{"for": "10m"}', what: "wait_timer" };
  const timer = ObjectReader.open(value, path, violations, known);
  if (timer === undefined) return undefined;
  if (timer.has("for") === timer.has("until")) {
    return violations.add(path, "choice", 'must have either for or until, for example {"for": "10m"}');
  }
  const none = { forMs: undefined, for: undefined, until: undefined };
  if (timer.has("for")) {
    const written = timer.get("for")!;
    if (typeof written === "string" && isExpression(written)) return { kind: "wait_timer", ...none, for: written };
    const forMs = readDuration(written, timer.pathOf("for"), { zero: true, example: "10m" }, violations);
    return { kind: "wait_timer", ...none, forMs: forMs ?? 0 };
  }
  const until = timer.get("until")!;
  if (typeof until !== "string" || !(isExpression(until) || isTimestampText(until))) {
    const message = 'must be an expression or a time of RFC 3339, for example "2030-01-31T09:00:00Z"';
    return timer.refuse("until", "timestamp", message);
  }
  return { kind: "wait_timer", ...none, until };
}

function parseApproval(value: Json, path: string, _step: ObjectReader, context: WorkContext): ApprovalWork | undefined {
  const example = '{"by": ["role:operator"], "timeout": "2d"}';
  const known = { known: workFields.approval, example, what: "approval" };
  const approval = ObjectReader.open(value, path, context.violations, known);
  if (approval === undefined) return undefined;
  approval.required("by", '["role:operator"]');
  return {
    kind: "approval",
    by: approval.textList("by", formats.approver, { min: 1, max: limits.approvers }, '["role:operator"]') ?? [],
    quorum: approval.integer("quorum", { min: 1, max: limits.approvers }, 1) ?? 1,
    timeoutMs: approval.requiredDuration("timeout", { example: "2d" }) ?? 0,
    onTimeout: readOptionalSteps(approval, "on_timeout", context),
    title: approval.nested("title", limits.templateDepth) ?? "",
    details: approval.nested("details", limits.templateDepth) ?? {},
    commentRequired: approval.choice("comment", ["optional", "required"], "optional") === "required",
  };
}

function parseTransform(_value: Json, _path: string, step: ObjectReader): TransformWork | undefined {
  const template = step.nested("transform", limits.templateDepth);
  return template === undefined ? undefined : { kind: "transform", value: template };
}

function parseFail(value: Json, path: string, _step: ObjectReader, { violations }: WorkContext): FailWork | undefined {
  const example = '{"code": "unsigned", "message": "Nobody signed."}';
  const failure = ObjectReader.open(value, path, violations, { known: workFields.fail, example, what: "fail" });
  if (failure === undefined) return undefined;
  return {
    kind: "fail",
    code: failure.text("code", formats.code) ?? "",
    message: failure.nested("message", limits.templateDepth) ?? "",
  };
}
