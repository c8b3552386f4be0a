import type { Json, JsonObject } from "../definition.ts";
import { documentOf, noteStep, stepOf, task } from "./documents.ts";

/** A document with a valid structure that cannot be published. */
export interface RefusedDefinition {
  readonly document: Json;
  readonly path: string;
  readonly message: string;
  /** The line and the column in an expression. */
  readonly position?: readonly [number, number];
}

const closedInput: JsonObject = {
  type: "object",
  properties: {
    id: { type: "string" },
    lead: { type: "object", properties: { email: { type: "string" } }, additionalProperties: false },
  },
  additionalProperties: false,
};

const line: JsonObject = { type: "object", properties: { price: { type: "number" }, count: { type: "integer" } } };
const orderInput: JsonObject = {
  type: "object",
  properties: { ...(line.properties as JsonObject), lines: { type: "array", items: line } },
};

const again = { id: "again", continue_as_new: { input: {} } };

/** Every rule that concerns several parts of a document, with a document that breaks only it. */
export const refusedDefinitions: Readonly<Record<string, RefusedDefinition>> = {
  "ids are unique at any depth": {
    document: documentOf([noteStep("a"), { id: "b", branch: [{ when: "=true", steps: [noteStep("a")] }] }]),
    path: "steps[1].branch[0].steps[0].id",
    message: 'the id "a" is already used at steps[0]: choose another',
  },
  "ids are unique between a step and its catch": {
    document: stepOf(task, { catch: [{ on: ["*"], steps: [noteStep("one")] }] }),
    path: "steps[0].catch[0].steps[0].id",
    message: 'the id "one" is already used at steps[0]: choose another',
  },
  "a title with a placeholder of another language is no expression": {
    document: documentOf([
      { id: "ask", approval: { by: ["role:admin"], timeout: "1d", title: "Ship {{ input.order }}" } },
    ]),
    path: "steps[0].approval.title",
    message:
      'is plain text, in which {{…}} is not replaced; begin with = for an expression, for example ="Ship " + input.order',
  },
  "a number of the input has no remainder, because it is no integer": {
    document: documentOf([noteStep("a", "=[input.count % 2, input.price % 2]")], { input_schema: orderInput }),
    path: "steps[0].transform",
    message: "'%' cannot be applied to double and int.",
    position: [1, 20],
  },
  "a number in an element of a list of the input has no remainder": {
    document: documentOf(
      [
        {
          id: "m",
          map: { in: "=input.lines", max_items: 9, steps: [noteStep("a", "=[item.count % 2, item.price % 2]")] },
        },
      ],
      { input_schema: orderInput },
    ),
    path: "steps[0].map.steps[0].transform",
    message: "'%' cannot be applied to double and int.",
    position: [1, 19],
  },
  "a step cannot read a later step": {
    document: documentOf([noteStep("a", "=steps.b"), noteStep("b")]),
    path: "steps[0].transform",
    message: 'the step "b" does not run before this one: move it up, or read an earlier step',
    position: [1, 2],
  },
  "a step cannot read itself": {
    document: documentOf([noteStep("a", "=steps.a")]),
    path: "steps[0].transform",
    message: 'the step "a" cannot read its own output: read an earlier step',
    position: [1, 2],
  },
  "a step cannot read another arm of its branch": {
    document: documentOf([
      { id: "pick", branch: [{ when: "=true", steps: [noteStep("x")] }, { else: [noteStep("y", "=steps.x")] }] },
    ]),
    path: "steps[0].branch[1].else[0].transform",
    message: 'the step "x" is in another part of "pick": read steps.pick after that block instead',
    position: [1, 2],
  },
  "a step cannot read another branch of its parallel": {
    document: documentOf([
      { id: "both", parallel: { branches: { l: [noteStep("x")], r: [noteStep("y", "=1 + steps.x")] } } },
    ]),
    path: "steps[0].parallel.branches.r[0].transform",
    message: 'the step "x" is in another part of "both": read steps.both after that block instead',
    position: [1, 6],
  },
  "a step cannot read inside an earlier block": {
    document: documentOf([
      { id: "pick", branch: [{ when: "=true", steps: [noteStep("x")] }] },
      noteStep("y", "=steps.x.value"),
    ]),
    path: "steps[1].transform",
    message: 'the step "x" is inside "pick" and may not have run: read steps.pick, the output of the whole block',
    position: [1, 2],
  },
  "a step cannot read inside an earlier map": {
    document: documentOf([
      { id: "docs", map: { in: [], max_items: 1, steps: [noteStep("x")] } },
      noteStep("y", "=steps.x"),
    ]),
    path: "steps[1].transform",
    message: 'the step "x" is inside "docs" and may not have run: read steps.docs, the output of the whole block',
    position: [1, 2],
  },
  "a step cannot read a step of an earlier catch": {
    document: documentOf([
      { id: "one", ...task, catch: [{ on: ["*"], steps: [noteStep("x")] }] },
      noteStep("y", "=steps.x"),
    ]),
    path: "steps[1].transform",
    message: 'the step "x" is inside "one" and may not have run: read steps.one, the output of the whole block',
    position: [1, 2],
  },
  "a step cannot read the block around it": {
    document: documentOf([{ id: "pick", branch: [{ when: "=true", steps: [noteStep("x", "=steps.pick")] }] }]),
    path: "steps[0].branch[0].steps[0].transform",
    message: 'the step "pick" contains this one, so it has no output yet: read a step before it',
    position: [1, 2],
  },
  "a catch cannot read its own step": {
    document: stepOf(task, { catch: [{ on: ["*"], steps: [noteStep("x", "=steps.one")] }] }),
    path: "steps[0].catch[0].steps[0].transform",
    message: 'the step "one" contains this one, so it has no output yet: read a step before it',
    position: [1, 2],
  },
  "a step that does not exist is named with the nearest visible one": {
    document: documentOf([noteStep("score"), noteStep("b", "=steps.scor")]),
    path: "steps[1].transform",
    message: 'there is no step "scor"; did you mean steps.score?',
    position: [1, 2],
  },
  "a step that does not exist has no suggestion if nothing is near": {
    document: documentOf([noteStep("score"), noteStep("b", "=steps.somethingElse")]),
    path: "steps[1].transform",
    message: 'there is no step "somethingElse"; name an earlier step',
    position: [1, 2],
  },
  "a step id is written literally": {
    document: documentOf([noteStep("a"), noteStep("b", "=steps[input.id]")]),
    path: "steps[1].transform",
    message: "must name the step literally, for example steps.score or steps['score']",
    position: [1, 2],
  },
  "the output cannot read inside a block": {
    document: documentOf([{ id: "pick", branch: [{ when: "=true", steps: [noteStep("x")] }] }], {
      output: { deep: ["=steps.x"] },
    }),
    path: "output.deep[0]",
    message: 'the step "x" is inside "pick" and may not have run: read steps.pick, the output of the whole block',
    position: [1, 2],
  },
  "a compensation cannot read a later step": {
    document: documentOf([{ id: "a", ...task, compensate: { ...task, with: "=steps.b" } }, noteStep("b")]),
    path: "steps[0].compensate.with",
    message: 'the step "b" does not run before this one: move it up, or read an earlier step',
    position: [1, 2],
  },
  "a syntax error has its position": {
    document: documentOf([noteStep("a", "=input.x +")]),
    path: "steps[0].transform",
    message: "Unexpected token: end of expression.",
    position: [1, 11],
  },
  "a syntax error on the second line has its position": {
    document: documentOf([noteStep("a", "=input.x +\n  )")]),
    path: "steps[0].transform",
    message: "Unexpected token: RPAREN.",
    position: [2, 3],
  },
  "a type error has its position": {
    document: documentOf([noteStep("a", "='a' + 1")]),
    path: "steps[0].transform",
    message: "'+' cannot be applied to string and int.",
    position: [1, 2],
  },
  "an unknown variable has its position": {
    document: documentOf([noteStep("a", "=1 + payload.x")]),
    path: "steps[0].transform",
    message: "There is no variable 'payload'.",
    position: [1, 6],
  },
  "an unknown function has its position": {
    document: documentOf([noteStep("a", "=foo(input)")]),
    path: "steps[0].transform",
    message: "There is no function foo().",
    position: [1, 2],
  },
  "an expression is at most 4096 bytes": {
    document: documentOf([noteStep("a", `=${"1+".repeat(2100)}1`)]),
    path: "steps[0].transform",
    message: "An expression may have at most 4096 bytes.",
  },
  "an expression has at most 100 levels": {
    document: documentOf([noteStep("a", `=${"(".repeat(200)}1${")".repeat(200)}`)]),
    path: "steps[0].transform",
    message: "The expression is nested too deeply.",
    position: [1, 102],
  },
  "a condition is a boolean": {
    document: stepOf({ branch: [{ when: "='yes'", steps: [] }] }),
    path: "steps[0].branch[0].when",
    message: "must have a result of type bool, not string",
    position: [1, 1],
  },
  "the list of a map is a list": {
    document: stepOf({ map: { in: "=1", max_items: 1, steps: [] } }),
    path: "steps[0].map.in",
    message: "must have a result of type list, not int",
    position: [1, 1],
  },
  "a duration is a text or a number": {
    document: stepOf({ wait_timer: { for: "=[1]" } }),
    path: "steps[0].wait_timer.for",
    message: "must have a result of type string or int or double, not list",
    position: [1, 1],
  },
  "a time is a timestamp or a text": {
    document: stepOf({ wait_timer: { until: "=5" } }),
    path: "steps[0].wait_timer.until",
    message: "must have a result of type timestamp or string, not int",
    position: [1, 1],
  },
  "a scope is a text, a number or a boolean": {
    document: stepOf({ wait_event: { event: "a", scope: "={'a': 1}", timeout: "1d" } }),
    path: "steps[0].wait_event.scope",
    message: "must have a result of type string or int or double or bool, not map",
    position: [1, 1],
  },
  "the condition of an update is a boolean": {
    document: stepOf({ wait_event: { event: "a", timeout: "1d", update: { when: "=1 + 1" } } }),
    path: "steps[0].wait_event.update.when",
    message: "must have a result of type bool, not int",
    position: [1, 1],
  },
  "update exists only in the condition of an update": {
    document: documentOf([
      { id: "change", wait_event: { event: "a", timeout: "1d", update: {} } },
      noteStep("b", "=update.x"),
    ]),
    path: "steps[1].transform",
    message: "There is no variable 'update'.",
    position: [1, 2],
  },
  "a run is not continued while other steps are in progress": {
    document: stepOf({
      map: { in: [1], max_items: 1, steps: [{ id: "arm", branch: [{ when: "=true", steps: [again] }] }] },
    }),
    path: "steps[0].map.steps[0].branch[0].steps[0].continue_as_new",
    message: "ends the run, so it must not be inside a parallel or a map: move it after that block",
  },
  "an update is answered by a step that always runs after it": {
    document: documentOf([
      noteStep("before", 1),
      { id: "change", wait_event: { event: "a", timeout: "1d", update: { answer: "before" } } },
    ]),
    path: "steps[1].wait_event.update.answer",
    message: 'must be a step that always runs after "change": a later step of its list or of a list around it',
  },
  "the scope of an entry of any has its path": {
    document: stepOf({ wait_event: { any: [{ event: "a" }, { event: "b", scope: "=[1]" }], timeout: "1d" } }),
    path: "steps[0].wait_event.any[1].scope",
    message: "must have a result of type string or int or double or bool, not list",
    position: [1, 1],
  },
  "item exists only in a map": {
    document: documentOf([noteStep("a", "=input.x + item.y")]),
    path: "steps[0].transform",
    message: "item exists only in the steps of a map: use input or an earlier step, for example =input.id",
    position: [1, 12],
  },
  "index exists only in a map": {
    document: documentOf([noteStep("a", "=index")]),
    path: "steps[0].transform",
    message: "index exists only in the steps of a map: use input or an earlier step, for example =input.id",
    position: [1, 2],
  },
  "item does not exist in the list of its own map": {
    document: stepOf({ map: { in: "=item.list", max_items: 1, steps: [] } }),
    path: "steps[0].map.in",
    message: "item exists only in the steps of a map: use input or an earlier step, for example =input.id",
    position: [1, 2],
  },
  "item does not exist in the catch of a map": {
    document: stepOf(
      { map: { in: [], max_items: 1, steps: [] } },
      { catch: [{ on: ["*"], steps: [noteStep("x", "=item")] }] },
    ),
    path: "steps[0].catch[0].steps[0].transform",
    message: "item exists only in the steps of a map: use input or an earlier step, for example =input.id",
    position: [1, 2],
  },
  "err exists only in a catch": {
    document: documentOf([noteStep("a", "=err.code")]),
    path: "steps[0].transform",
    message: "err exists only in the steps of a catch: use input or an earlier step, for example =input.id",
    position: [1, 2],
  },
  "err has known members": {
    document: stepOf(task, { catch: [{ on: ["*"], steps: [noteStep("x", "=err.reason")] }] }),
    path: "steps[0].catch[0].steps[0].transform",
    message: "err has no reason; it has code, message, step, details",
    position: [1, 2],
  },
  "run has known members": {
    document: documentOf([noteStep("a", "=run.start")]),
    path: "steps[0].transform",
    message: "run has no start; it has id, key, definition, version, environment, started_at",
    position: [1, 2],
  },
  "catch names codes of the kind": {
    document: stepOf(task, { catch: [{ on: ["route_rejected"], steps: [] }] }),
    path: "steps[0].catch[0].on[0]",
    message:
      "the step cannot fail with route_rejected; possible are attempt_timeout, expression_error, heartbeat_timeout, internal, quota_exceeded, state_too_large, task_failed, timeout, worker_lost",
  },
  "catch names the errors of the task": {
    document: stepOf(
      { task: { queue: "ml", type: "a", errors: ["quota"] } },
      { catch: [{ on: ["quotas"], steps: [] }] },
    ),
    path: "steps[0].catch[0].on[0]",
    message:
      "the step cannot fail with quotas; possible are attempt_timeout, expression_error, heartbeat_timeout, internal, quota, quota_exceeded, state_too_large, task_failed, timeout, worker_lost",
  },
  "catch of a block names the codes of its steps": {
    document: documentOf([
      {
        id: "b",
        branch: [{ when: "=true", steps: [{ id: "f", fail: { code: "unsigned" } }] }],
        catch: [{ on: ["signed"], steps: [] }],
      },
    ]),
    path: "steps[0].catch[0].on[0]",
    message: "the step cannot fail with signed; possible are expression_error, internal, state_too_large, unsigned",
  },
  "a code is caught once": {
    document: stepOf(task, {
      catch: [
        { on: ["timeout"], steps: [] },
        { on: ["timeout"], steps: [] },
      ],
    }),
    path: "steps[0].catch[1].on[0]",
    message: "an entry before it catches timeout: remove it",
  },
  "nothing follows a catch of everything": {
    document: stepOf(task, {
      catch: [
        { on: ["*"], steps: [] },
        { on: ["timeout"], steps: [] },
      ],
    }),
    path: "steps[0].catch[1]",
    message: 'can never run, because an entry before it catches "*": move it up',
  },
  "retry names codes of the step": {
    document: stepOf(task, { retry: { on: ["quota"] } }),
    path: "steps[0].retry.on[0]",
    message:
      "the step cannot fail with quota; possible are attempt_timeout, heartbeat_timeout, internal, quota_exceeded, task_failed, worker_lost",
  },
  "retry names no code that is never retried": {
    document: stepOf(task, { retry: { on: ["timeout"] } }),
    path: "steps[0].retry.on[0]",
    message:
      "timeout is never retried; possible are attempt_timeout, heartbeat_timeout, internal, quota_exceeded, task_failed, worker_lost",
  },
  "retry of the definition names a code of a step": {
    document: documentOf([{ id: "one", ...task }], { retry: { on: ["quota"] } }),
    path: "retry.on[0]",
    message:
      "no step can fail with quota; possible are attempt_timeout, heartbeat_timeout, internal, quota_exceeded, task_failed, worker_lost",
  },
  "retry of a compensation names codes of its kind": {
    document: stepOf(task, { compensate: { route: { pool: "sales" }, retry: { on: ["worker_lost"] } } }),
    path: "steps[0].compensate.retry.on[0]",
    message:
      "the step cannot fail with worker_lost; possible are internal, pool_not_found, quota_exceeded, route_rejected",
  },
  "a block is not retried": {
    document: stepOf({ branch: [{ when: "=true", steps: [] }] }, { retry: {} }),
    path: "steps[0].retry",
    message:
      "branch is not retried: retry is for task, route, notify, action, experiment, subworkflow, stream_append, stream_read",
  },
  "a wait is not retried": {
    document: stepOf({ wait_timer: { for: "1s" } }, { retry: {} }),
    path: "steps[0].retry",
    message:
      "wait_timer is not retried: retry is for task, route, notify, action, experiment, subworkflow, stream_append, stream_read",
  },
  "a block has no time-out": {
    document: stepOf({ branch: [{ when: "=true", steps: [] }] }, { timeout: { total: "1d" } }),
    path: "steps[0].timeout.total",
    message: "branch has no timeout: set it on the steps that take time",
  },
  "a wait has its own time-out": {
    document: stepOf({ wait_event: { event: "a", timeout: "1d" } }, { timeout: { total: "1d" } }),
    path: "steps[0].timeout.total",
    message: "wait_event has a timeout of its own: write it inside wait_event",
  },
  "a heartbeat is for tasks": {
    document: stepOf({ route: { pool: "sales" } }, { timeout: { heartbeat: "1s" } }),
    path: "steps[0].timeout.heartbeat",
    message: "is only for task steps: remove it, or use total",
  },
  "a block is not compensated": {
    document: stepOf({ map: { in: [], max_items: 1, steps: [] } }, { compensate: task }),
    path: "steps[0].compensate",
    message: "map is undone step by step: move compensate to the steps inside it",
  },
  "a failure is not compensated": {
    document: stepOf({ fail: { code: "a" } }, { compensate: task }),
    path: "steps[0].compensate",
    message: "fail never completes, so there is nothing to undo: remove compensate",
  },
  "an action exists": {
    document: stepOf({ action: { action: "github.nothing" } }),
    path: "steps[0].action.action",
    message: 'there is no action "github.nothing": list the actions, or add its manifest',
  },
  "an action is executable": {
    document: stepOf({ action: { action: "ocr.read", connection: "=input.connection" } }, { with: {} }),
    path: "steps[0].action.action",
    message: "the action cannot be executed: The action ocr.read is only described in the catalogue: it needs files.",
  },
  "a literal in the input of an action has the type that the action wants": {
    document: stepOf({ action: { action: "github.issue.create" } }, { with: { title: "=input.title", count: "two" } }),
    path: "steps[0].with.count",
    message: "must be an integer, as the schema of the action's input says",
  },
  "a literal in the input of an action is one of those that the action allows": {
    document: stepOf({ action: { action: "github.issue.create" } }, { with: { title: "Hi", state: "gone" } }),
    path: "steps[0].with.state",
    message: 'must be one of "open", "closed", as the schema of the action\'s input says',
  },
  "the input of an action has what the action requires": {
    document: stepOf({ action: { action: "github.issue.create" } }, { with: { state: "=input.state" } }),
    path: "steps[0].with.title",
    message: "is required, as the schema of the action's input says",
  },
  "the input of an action without with has what the action requires": {
    document: stepOf({ action: { action: "github.issue.create" } }),
    path: "steps[0].with.title",
    message: "is required, as the schema of the action's input says",
  },
  "the input of a compensating action is checked": {
    document: stepOf(
      { transform: {} },
      { compensate: { action: { action: "github.issue.close" }, with: { title: 5 } } },
    ),
    path: "steps[0].compensate.with.title",
    message: "must be a string, as the schema of the action's input says",
  },
  "a compensating action can be repeated": {
    document: stepOf(
      { transform: {} },
      { compensate: { action: { action: "github.issue.create" }, with: { title: "Hi" } } },
    ),
    path: "steps[0].compensate.action.action",
    message:
      'must be repeatable: github.issue.create cannot be sent again after an unknown outcome, and would stay undone; use a task, or an action with idempotency "key" or "natural"',
  },
  "a literal in the input of a subworkflow is one of those that its definition allows": {
    document: stepOf({ subworkflow: { key: "lead.enrich", version: 2, input: { id: "=input.id", source: "mail" } } }),
    path: "steps[0].subworkflow.input.source",
    message: 'must be one of "web", "call", as the input schema of lead.enrich@2 says',
  },
  "the input of a subworkflow has what its definition requires": {
    document: stepOf({ subworkflow: { key: "lead.enrich", version: 2 } }),
    path: "steps[0].subworkflow.input.id",
    message: "is required, as the input schema of lead.enrich@2 says",
  },
  "a member of the input is one that its schema allows": {
    document: documentOf([noteStep("a", "=input.lead.mail")], { input_schema: closedInput }),
    path: "steps[0].transform",
    message: "the input schema allows no mail in input.lead; did you mean input.lead.email?",
    position: [1, 2],
  },
  "a member of the input is allowed in the output too": {
    document: documentOf([noteStep("a")], { input_schema: closedInput, output: { x: "=1 + input.count" } }),
    path: "output.x",
    message: "the input schema allows no count in input; add it to input_schema",
    position: [1, 6],
  },
  "an action with an unknown outcome is never retried": {
    document: stepOf(
      { action: { action: "github.issue.create" } },
      { with: { title: "Hi" }, retry: { on: ["outcome_unknown"] } },
    ),
    path: "steps[0].retry.on[0]",
    message:
      "outcome_unknown is never retried; possible are action_failed, auth_expired, conflict, connection_unusable, failed, internal, invalid_input, malformed, not_found, permission_denied, quota_exceeded, rate_limited, unavailable",
  },
  "a quorum can be reached": {
    document: stepOf({ approval: { by: ["user:ann", "user:bob"], quorum: 3, timeout: "1d" } }),
    path: "steps[0].approval.quorum",
    message: "must be at most 2, because only 2 can approve: lower it or add to by",
  },
  "a run executes at most 10,000 steps": {
    document: documentOf([
      noteStep("a"),
      { id: "m", map: { in: [], max_items: 5000, steps: [noteStep("x"), noteStep("y")] } },
    ]),
    path: "steps[1].map.max_items",
    message:
      "could make a run execute 10,002 steps; at most 10,000 are allowed: lower max_items, or move the inner steps into a subworkflow",
  },
  "nested maps multiply": {
    document: documentOf([
      {
        id: "m",
        map: {
          in: [],
          max_items: 1000,
          steps: [{ id: "n", map: { in: [], max_items: 1000, steps: [noteStep("x")] } }],
        },
      },
    ]),
    path: "steps[0].map.max_items",
    message:
      "could make a run execute 1,001,001 steps; at most 10,000 are allowed: lower max_items, or move the inner steps into a subworkflow",
  },
  "steps that are too many only together are reported for the list": {
    document: documentOf([
      { id: "m", map: { in: [], max_items: 9000, steps: [noteStep("x")] } },
      { id: "n", map: { in: [], max_items: 9000, steps: [noteStep("y")] } },
    ]),
    path: "steps",
    message:
      "could make a run execute 18,002 steps; at most 10,000 are allowed: lower max_items, or move the inner steps into a subworkflow",
  },
  "the catch of a step in a map counts": {
    document: documentOf([
      {
        id: "m",
        map: {
          in: [],
          max_items: 4000,
          steps: [{ id: "t", ...task, catch: [{ on: ["*"], steps: [noteStep("x"), noteStep("y")] }] }],
        },
      },
    ]),
    path: "steps[0].map.max_items",
    message:
      "could make a run execute 12,001 steps; at most 10,000 are allowed: lower max_items, or move the inner steps into a subworkflow",
  },
  "a pool exists": {
    document: stepOf({ route: { pool: "nowhere" } }),
    path: "steps[0].route.pool",
    message: 'no environment has a pool with the name or id "nowhere" that is not archived: create it or name another',
  },
  "the pool of a compensation exists": {
    document: stepOf(task, { compensate: { route: { pool: "nowhere" } } }),
    path: "steps[0].compensate.route.pool",
    message: 'no environment has a pool with the name or id "nowhere" that is not archived: create it or name another',
  },
  "a notification workflow exists": {
    document: stepOf({ notify: { workflow_key: "nothing", to: "a" } }),
    path: "steps[0].notify.workflow_key",
    message: 'there is no notification workflow "nothing": create it or name another',
  },
  "a subworkflow exists": {
    document: stepOf({ subworkflow: { key: "lead.enrichs" } }),
    path: "steps[0].subworkflow.key",
    message: 'there is no definition "lead.enrichs"; did you mean lead.enrich?',
  },
  "a subworkflow without a near name is to be created": {
    document: stepOf({ subworkflow: { key: "something.else" } }),
    path: "steps[0].subworkflow.key",
    message: 'there is no definition "something.else"; create and publish it first',
  },
  "a subworkflow is published": {
    document: stepOf({ subworkflow: { key: "unpublished" } }),
    path: "steps[0].subworkflow.key",
    message: 'the definition "unpublished" is not published: publish it first',
  },
  "a version of a subworkflow exists": {
    document: stepOf({ subworkflow: { key: "lead.enrich", version: 9 } }),
    path: "steps[0].subworkflow.version",
    message: 'the definition "lead.enrich" has no version 9: name an existing one, or leave version out',
  },
  "a definition does not run itself": {
    document: stepOf({ subworkflow: { key: "lead.onboard" } }),
    path: "steps[0].subworkflow.key",
    message: "must not run the definition itself (lead.onboard → lead.onboard): use a map to repeat steps",
  },
  "a definition does not run itself through others": {
    document: stepOf({ subworkflow: { key: "back.one" } }),
    path: "steps[0].subworkflow.key",
    message: "must not lead back to this definition: lead.onboard → back.one → back.two → lead.onboard",
  },
};
