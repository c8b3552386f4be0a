import type { Json } from "../definition.ts";
import { documentOf, nestedSteps, noteStep, stepOf, task } from "./documents.ts";

/** A document that the parser refuses. */
export interface InvalidDocument {
  readonly document: Json;
  readonly path: string;
  readonly message: string;
  /** False if the published schema cannot express the rule. */
  readonly schema?: false;
}

const map = (fields: object) => stepOf({ map: { in: "=input.list", max_items: 10, steps: [], ...fields } });
const wait = (fields: object) => stepOf({ wait_event: { event: "signed", timeout: "1d", ...fields } });
const approval = (fields: object) => stepOf({ approval: { by: ["role:operator"], timeout: "1d", ...fields } });
const retry = (fields: object) => stepOf(task, { retry: fields as never });
const nestedTemplate = (depth: number): Json => (depth === 0 ? 1 : [nestedTemplate(depth - 1)]);

/** Every structural rule, with a document that breaks it and the first violation that is reported. */
export const invalidDocuments: Readonly<Record<string, InvalidDocument>> = {
  "a document must be an object": {
    document: [],
    path: "",
    message:
      'must be an object, for example {"dsl": "1", "key": "lead.onboard", "timeout": "1d", "steps": [{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]}',
  },
  "an unknown field of the document names the nearest one": {
    document: documentOf([noteStep("one")], { timout: "1d" }),
    path: "timout",
    message: "is not a field of a definition; did you mean timeout?",
  },
  "an unknown field without a near one lists the known ones": {
    document: documentOf([noteStep("one")], { zzzzzzzz: 1 }),
    path: "zzzzzzzz",
    message:
      "is not a field of a definition; known are dsl, key, name, description, timeout, input_schema, retry, on_failure, steps, output",
  },
  "dsl must be the text 1": {
    document: documentOf([noteStep("one")], { dsl: 1 as never }),
    path: "dsl",
    message: 'must be the text "1" (in quotes)',
  },
  "key is required": {
    document: { dsl: "1", timeout: "1d", steps: [noteStep("one")] },
    path: "key",
    message:
      'is required: it must be lower-case letters and digits, separated by single dots, underscores or hyphens, at most 128 characters, for example "lead.onboard"',
  },
  "key has a pattern": {
    document: documentOf([noteStep("one")], { key: "Lead Onboard" }),
    path: "key",
    message:
      'must be lower-case letters and digits, separated by single dots, underscores or hyphens, at most 128 characters, for example "lead.onboard"',
  },
  "key has a maximum length": {
    document: documentOf([noteStep("one")], { key: "a".repeat(129) }),
    path: "key",
    message:
      'must be lower-case letters and digits, separated by single dots, underscores or hyphens, at most 128 characters, for example "lead.onboard"',
  },
  "name is a text": {
    document: documentOf([noteStep("one")], { name: 7 }),
    path: "name",
    message: "must be a text of at most 200 characters",
  },
  "description has a maximum length": {
    document: documentOf([noteStep("one")], { description: "x".repeat(2001) }),
    path: "description",
    message: "must be a text of at most 2000 characters",
  },
  "timeout is required": {
    document: { dsl: "1", key: "a", steps: [noteStep("one")] },
    path: "timeout",
    message: 'is required: the longest time, at most 365d, for example "14d"',
  },
  "timeout must be a duration": {
    document: documentOf([noteStep("one")], { timeout: "14 days" }),
    path: "timeout",
    message: 'must be a duration: a whole number and ms, s, m, h or d, for example "14d"',
  },
  "timeout must not be a number": {
    document: documentOf([noteStep("one")], { timeout: 60 }),
    path: "timeout",
    message: 'must be a duration: a whole number and ms, s, m, h or d, for example "14d"',
  },
  "timeout is at most 365 days": {
    document: documentOf([noteStep("one")], { timeout: "366d" }),
    path: "timeout",
    message: "must be at most 365d",
    schema: false,
  },
  "timeout is longer than 0": {
    document: documentOf([noteStep("one")], { timeout: "0s" }),
    path: "timeout",
    message: 'must be longer than 0, for example "14d"',
  },
  "on_failure is one of two": {
    document: documentOf([noteStep("one")], { on_failure: "retry" }),
    path: "on_failure",
    message: 'must be "fail" or "compensate"',
  },
  "steps are required": {
    document: { dsl: "1", key: "a", timeout: "1d" },
    path: "steps",
    message: 'is required, for example [{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]',
  },
  "steps must be a list": {
    document: documentOf({ one: {} }),
    path: "steps",
    message: 'must be a list of steps, for example [{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]',
  },
  "a document has at least one step": {
    document: documentOf([]),
    path: "steps",
    message:
      'must have at least one step, for example [{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]',
  },
  "a document has at most 500 steps": {
    document: documentOf(Array.from({ length: 501 }, (_, at) => noteStep(`s${at}`))),
    path: "steps",
    message: "must have at most 500 steps in total: move steps into a subworkflow",
  },
  "steps nest at most 16 levels": {
    document: documentOf([nestedSteps(17)]),
    path: "steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps[0].branch[0].steps",
    message: "must not be nested deeper than 16 levels: move inner steps into a subworkflow",
    schema: false,
  },
  "a template nests at most 16 levels": {
    document: documentOf([noteStep("one")], { output: nestedTemplate(17) }),
    path: "output",
    message: "must not nest deeper than 16 levels",
    schema: false,
  },
  "the input schema has only supported keywords": {
    document: documentOf([noteStep("one")], { input_schema: { patern: "x", $ref: "#/a" } }),
    path: "input_schema.patern",
    message:
      "is not a supported keyword; supported are type, enum, const, properties, required, additionalProperties, items, minItems, maxItems, minLength, maxLength, minimum, maximum, title, description, default",
  },
  "the input schema must be an object": {
    document: documentOf([noteStep("one")], { input_schema: true }),
    path: "input_schema",
    message: 'must be a JSON Schema object, for example {"type": "object"}',
  },
  "a nested input schema is checked": {
    document: documentOf([noteStep("one")], { input_schema: { properties: { a: { type: "text" } } } }),
    path: "input_schema.properties.a.type",
    message: "must be one of object, array, string, number, integer, boolean, null, or a list of them",
  },
  "a step must be an object": {
    document: documentOf(["one"]),
    path: "steps[0]",
    message: 'must be an object, for example {"id": "score", "task": {"queue": "ml", "type": "lead.score"}}',
  },
  "a step has an id": {
    document: documentOf([task]),
    path: "steps[0].id",
    message:
      'is required: it must be a lower-case letter, then letters, digits and underscores, at most 64 characters, for example "score"',
  },
  "a step id has a pattern": {
    document: documentOf([noteStep("One")]),
    path: "steps[0].id",
    message:
      'must be a lower-case letter, then letters, digits and underscores, at most 64 characters, for example "score"',
  },
  "a step id is not a member of every object": {
    document: documentOf([noteStep("constructor")]),
    path: "steps[0].id",
    message: "a step's id must not be constructor, which is reserved: choose another",
  },
  "a step id is not a method of every object": {
    document: documentOf([noteStep("toString")]),
    path: "steps[0].id",
    message: "a step's id must not be toString, which is reserved: choose another",
  },
  "a step has a kind": {
    document: documentOf([{ id: "one" }]),
    path: "steps[0]",
    message:
      "must have one of task, route, notify, action, subworkflow, branch, parallel, map, wait_event, wait_timer, approval, transform, fail, continue_as_new, experiment, stream_append, stream_read",
  },
  "a step has only one kind": {
    document: stepOf(task, { transform: 1 }),
    path: "steps[0]",
    message: "must have exactly one kind, not task and transform: make them separate steps",
  },
  "an unknown field of a step names the nearest one": {
    document: stepOf({ transfrom: { value: 1 } }),
    path: "steps[0].transfrom",
    message: "is not a field of a step; did you mean transform?",
  },
  "with belongs to tasks and actions": {
    document: stepOf({ transform: 1 }, { with: {} }),
    path: "steps[0].with",
    message: "is the input of a task or an action: a transform step has its values inside transform",
  },
  "a task is an object": {
    document: stepOf({ task: "score" }),
    path: "steps[0].task",
    message: 'must be an object, for example {"queue": "ml", "type": "lead.score"}',
  },
  "a task has a queue": {
    document: stepOf({ task: { type: "lead.score" } }),
    path: "steps[0].task.queue",
    message:
      'is required: it must be letters, digits, dots, underscores, hyphens, colons and slashes, at most 128 characters, for example "lead.score"',
  },
  "a task has a type": {
    document: stepOf({ task: { queue: "ml" } }),
    path: "steps[0].task.type",
    message:
      'is required: it must be letters, digits, dots, underscores, hyphens, colons and slashes, at most 128 characters, for example "lead.score"',
  },
  "a queue has a pattern": {
    document: stepOf({ task: { queue: "my queue", type: "a" } }),
    path: "steps[0].task.queue",
    message:
      'must be letters, digits, dots, underscores, hyphens, colons and slashes, at most 128 characters, for example "lead.score"',
  },
  "a version is a range": {
    document: stepOf({ task: { queue: "ml", type: "a", version: "two" } }),
    path: "steps[0].task.version",
    message: 'must be one to four comparisons with a version, separated by spaces, for example ">=2 <3"',
  },
  "the errors of a task are codes": {
    document: stepOf({ task: { queue: "ml", type: "a", errors: ["Quota!"] } }),
    path: "steps[0].task.errors[0]",
    message: 'must be lower-case letters, digits and underscores, at most 64 characters, for example "quota"',
  },
  "the errors of a task are listed once": {
    document: stepOf({ task: { queue: "ml", type: "a", errors: ["quota", "quota"] } }),
    path: "steps[0].task.errors[1]",
    message: "is listed twice: remove one quota",
  },
  "a route has a pool": {
    document: stepOf({ route: {} }),
    path: "steps[0].route.pool",
    message:
      'is required: it must be the name or the id of a pool, at most 200 characters, for example "sales"; it cannot be an expression',
  },
  "a pool is not an expression": {
    document: stepOf({ route: { pool: "=input.pool" } }),
    path: "steps[0].route.pool",
    message:
      'must be the name or the id of a pool, at most 200 characters, for example "sales"; it cannot be an expression',
  },
  "an unknown field of a route names the nearest one": {
    document: stepOf({ route: { pool: "a", prioritty: 1 } }),
    path: "steps[0].route.prioritty",
    message: "is not a field of route; did you mean priority?",
  },
  "a notification has a workflow": {
    document: stepOf({ notify: { to: "=input.user" } }),
    path: "steps[0].notify.workflow_key",
    message:
      'is required: it must be the key of a notification workflow, for example "welcome"; it cannot be an expression',
  },
  "a notification has a recipient": {
    document: stepOf({ notify: { workflow_key: "welcome" } }),
    path: "steps[0].notify.to",
    message: 'is required, for example "=input.user"',
  },
  "a recipient is a text or an object": {
    document: stepOf({ notify: { workflow_key: "welcome", to: 7 } }),
    path: "steps[0].notify.to",
    message: 'must be the external id of a subscriber or an object, for example "=input.user"',
  },
  "a recipient has one address": {
    document: stepOf({ notify: { workflow_key: "welcome", to: { topic: "news", subscriber_id: "a" } } }),
    path: "steps[0].notify.to",
    message: 'must have exactly one of subscriber_external_id, subscriber_id, topic, for example {"topic": "news"}',
  },
  "a recipient has a known address": {
    document: stepOf({ notify: { workflow_key: "welcome", to: { topics: "news" } } }),
    path: "steps[0].notify.to.topics",
    message: "is not a field of to; did you mean topic?",
  },
  "a subworkflow has a key": {
    document: stepOf({ subworkflow: {} }),
    path: "steps[0].subworkflow.key",
    message:
      'is required: it must be lower-case letters and digits, separated by single dots, underscores or hyphens, at most 128 characters, for example "lead.onboard"',
  },
  "a subworkflow version is a number": {
    document: stepOf({ subworkflow: { key: "a", version: "latest" } }),
    path: "steps[0].subworkflow.version",
    message: "must be a whole number from 1 to 1000000, for example 1",
  },
  "a branch is a list of arms": {
    document: stepOf({ branch: {} }),
    path: "steps[0].branch",
    message: 'must be a list of 1 to 50 arms, for example [{"when": "=input.vip", "steps": []}, {"else": []}]',
  },
  "a branch has an arm": {
    document: stepOf({ branch: [] }),
    path: "steps[0].branch",
    message: 'must be a list of 1 to 50 arms, for example [{"when": "=input.vip", "steps": []}, {"else": []}]',
  },
  "an arm has a condition": {
    document: stepOf({ branch: [{ steps: [] }] }),
    path: "steps[0].branch[0].when",
    message: 'is required, for example "=input.vip"',
  },
  "a condition is an expression": {
    document: stepOf({ branch: [{ when: "input.vip", steps: [] }] }),
    path: "steps[0].branch[0].when",
    message: 'must be an expression that starts with =, for example "=input.vip"',
  },
  "a condition is not an escaped text": {
    document: stepOf({ branch: [{ when: "==input.vip", steps: [] }] }),
    path: "steps[0].branch[0].when",
    message: 'must be an expression that starts with =, for example "=input.vip"',
  },
  "an arm has steps": {
    document: stepOf({ branch: [{ when: "=true" }] }),
    path: "steps[0].branch[0].steps",
    message: 'is required, for example [{"id": "note", "transform": 1}]',
  },
  "else comes last": {
    document: stepOf({ branch: [{ when: "=true", steps: [] }, { else: [] }, { when: "=true", steps: [] }] }),
    path: "steps[0].branch[1]",
    message: "must be the last arm: move else to the end",
    schema: false,
  },
  "else follows a condition": {
    document: stepOf({ branch: [{ else: [] }] }),
    path: "steps[0].branch[0]",
    message: 'must follow an arm with a condition: {"when": "=input.vip", "steps": []}',
  },
  "else is a list of steps": {
    document: stepOf({ branch: [{ when: "=true", steps: [] }, { else: {} }] }),
    path: "steps[0].branch[1].else",
    message: 'must be a list of steps, for example [{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]',
  },
  "else has no condition": {
    document: stepOf({
      branch: [
        { when: "=true", steps: [] },
        { else: [], when: "=true" },
      ],
    }),
    path: "steps[0].branch[1].when",
    message: "is not a field of the else arm; known are else",
  },
  "parallel has branches": {
    document: stepOf({ parallel: {} }),
    path: "steps[0].parallel.branches",
    message: 'is required, for example {"legal": [], "credit": []}',
  },
  "parallel has at least two branches": {
    document: stepOf({ parallel: { branches: { one: [] } } }),
    path: "steps[0].parallel.branches",
    message: 'must be an object with 2 to 50 branches, for example {"legal": [], "credit": []}',
  },
  "parallel branches are not a list": {
    document: stepOf({ parallel: { branches: [[], []] } }),
    path: "steps[0].parallel.branches",
    message: 'must be an object with 2 to 50 branches, for example {"legal": [], "credit": []}',
  },
  "a branch name has a pattern": {
    document: stepOf({ parallel: { branches: { "Legal team": [], credit: [] } } }),
    path: 'steps[0].parallel.branches["Legal team"]',
    message:
      'the name of a branch must be a lower-case letter, then letters, digits and underscores, at most 64 characters, for example "score"',
  },
  "a branch name is not a member of every object": {
    document: stepOf({ parallel: { branches: { valueOf: [], credit: [] } } }),
    path: "steps[0].parallel.branches.valueOf",
    message: "the name of a branch must not be valueOf, which is reserved: choose another",
  },
  "on_error of parallel is one of two": {
    document: stepOf({ parallel: { branches: { a: [], b: [] }, on_error: "ignore" } }),
    path: "steps[0].parallel.on_error",
    message: 'must be "fail" or "collect"',
  },
  "a map has a list": {
    document: stepOf({ map: { max_items: 10, steps: [] } }),
    path: "steps[0].map.in",
    message: 'is required, for example "=input.documents"',
  },
  "the list of a map is a list or an expression": {
    document: map({ in: "input.list" }),
    path: "steps[0].map.in",
    message: 'must be a list or an expression, for example "=input.documents"',
  },
  "a map is bounded": {
    document: stepOf({ map: { in: "=input.list", steps: [] } }),
    path: "steps[0].map.max_items",
    message: "is required: a whole number from 1 to 10000",
  },
  "max_items is at most 10,000": {
    document: map({ max_items: 10_001 }),
    path: "steps[0].map.max_items",
    message: "must be a whole number from 1 to 10000, for example 1",
  },
  "max_items is a whole number": {
    document: map({ max_items: 1.5 }),
    path: "steps[0].map.max_items",
    message: "must be a whole number from 1 to 10000, for example 1",
  },
  "max_parallel is at most 100": {
    document: map({ max_parallel: 101 }),
    path: "steps[0].map.max_parallel",
    message: "must be a whole number from 1 to 100, for example 10",
  },
  "a literal list has at most max_items elements": {
    document: map({ in: [1, 2], max_items: 1 }),
    path: "steps[0].map.in",
    message: "must have at most max_items (1) elements, not 2",
    schema: false,
  },
  "a map has steps": {
    document: stepOf({ map: { in: [], max_items: 1 } }),
    path: "steps[0].map.steps",
    message: 'is required, for example [{"id": "note", "transform": 1}]',
  },
  "a wait has an event": {
    document: stepOf({ wait_event: { timeout: "1d" } }),
    path: "steps[0].wait_event.event",
    message:
      'is required: it must be letters, digits, dots, underscores, hyphens, colons and slashes, at most 128 characters, for example "lead.score"',
  },
  "a wait is bounded": {
    document: stepOf({ wait_event: { event: "signed" } }),
    path: "steps[0].wait_event.timeout",
    message: 'is required: the longest time, at most 365d, for example "7d"',
  },
  "a wait is at most 365 days": {
    document: wait({ timeout: "9999d" }),
    path: "steps[0].wait_event.timeout",
    message: "must be at most 365d",
    schema: false,
  },
  "a wait has either event or any": {
    document: wait({ any: [{ event: "signed" }] }),
    path: "steps[0].wait_event.event",
    message: "must be left out beside any: put it into an entry of any",
  },
  "a wait for any of several events takes no update": {
    document: stepOf({ wait_event: { any: [{ event: "signed" }], update: {}, timeout: "1d" } }),
    path: "steps[0].wait_event.update",
    message: "is for a wait for one event: use event instead of any",
  },
  "an update has known fields": {
    document: wait({ update: { answers: "a" } }),
    path: "steps[0].wait_event.update.answers",
    message: "is not a field of update; did you mean answer?",
  },
  "any lists an event": {
    document: stepOf({ wait_event: { any: [], timeout: "1d" } }),
    path: "steps[0].wait_event.any",
    message: 'must be a list of 1 to 20 elements, for example [{"event": "contract.signed"}]',
  },
  "an entry of any has known fields": {
    document: stepOf({ wait_event: { any: [{ event: "signed", scop: "a" }], timeout: "1d" } }),
    path: "steps[0].wait_event.any[0].scop",
    message: "is not a field of an event; did you mean scope?",
  },
  "a scope is a text": {
    document: wait({ scope: {} }),
    path: "steps[0].wait_event.scope",
    message: 'must be a text, for example "=input.id"',
  },
  "a timer has either for or until": {
    document: stepOf({ wait_timer: { for: "1d", until: "=input.at" } }),
    path: "steps[0].wait_timer",
    message: 'must have either for or until, for example {"for": "10m"}',
  },
  "a timer is a duration": {
    document: stepOf({ wait_timer: { for: "soon" } }),
    path: "steps[0].wait_timer.for",
    message: 'must be a duration: a whole number and ms, s, m, h or d, for example "10m"',
  },
  "a timer is at most 365 days": {
    document: stepOf({ wait_timer: { for: "366d" } }),
    path: "steps[0].wait_timer.for",
    message: "must be at most 365d",
    schema: false,
  },
  "a time has the form of RFC 3339": {
    document: stepOf({ wait_timer: { until: "tomorrow" } }),
    path: "steps[0].wait_timer.until",
    message: 'must be an expression or a time of RFC 3339, for example "2030-01-31T09:00:00Z"',
  },
  "a time exists": {
    document: stepOf({ wait_timer: { until: "2030-02-30T00:00:00Z" } }),
    path: "steps[0].wait_timer.until",
    message: 'must be an expression or a time of RFC 3339, for example "2030-01-31T09:00:00Z"',
    schema: false,
  },
  "an approval names who may approve": {
    document: stepOf({ approval: { timeout: "1d" } }),
    path: "steps[0].approval.by",
    message: 'is required, for example ["role:operator"]',
  },
  "an approver is a role or a user": {
    document: approval({ by: ["ann"] }),
    path: "steps[0].approval.by[0]",
    message: 'must be role: or user: with a name, for example "role:operator"',
  },
  "an approval is bounded": {
    document: stepOf({ approval: { by: ["role:operator"] } }),
    path: "steps[0].approval.timeout",
    message: 'is required: the longest time, at most 365d, for example "2d"',
  },
  "a quorum is positive": {
    document: approval({ quorum: 0 }),
    path: "steps[0].approval.quorum",
    message: "must be a whole number from 1 to 50, for example 1",
  },
  "a comment is optional or required": {
    document: approval({ comment: true }),
    path: "steps[0].approval.comment",
    message: 'must be "optional" or "required"',
  },
  "a failure has a code": {
    document: stepOf({ fail: {} }),
    path: "steps[0].fail.code",
    message:
      'is required: it must be lower-case letters, digits and underscores, at most 64 characters, for example "quota"',
  },
  "the code of a failure has a pattern": {
    document: stepOf({ fail: { code: "Not signed" } }),
    path: "steps[0].fail.code",
    message: 'must be lower-case letters, digits and underscores, at most 64 characters, for example "quota"',
  },
  "retry is an object": {
    document: stepOf(task, { retry: 3 }),
    path: "steps[0].retry",
    message: 'must be an object, for example {"max_attempts": 5, "initial": "1s", "factor": 2, "max": "60s"}',
  },
  "max_attempts is at most 100": {
    document: retry({ max_attempts: 101 }),
    path: "steps[0].retry.max_attempts",
    message: "must be a whole number from 1 to 100, for example 3",
  },
  "initial is a duration": {
    document: retry({ initial: 1 }),
    path: "steps[0].retry.initial",
    message: 'must be a duration: a whole number and ms, s, m, h or d, for example "1s"',
  },
  "the wait between attempts is at most 7 days": {
    document: retry({ max: "8d" }),
    path: "steps[0].retry.max",
    message: "must be at most 7d",
    schema: false,
  },
  "factor is at least 1": {
    document: retry({ factor: 0.5 }),
    path: "steps[0].retry.factor",
    message: "must be a number from 1 to 10, for example 2",
  },
  "retry lists codes": {
    document: retry({ on: [] }),
    path: "steps[0].retry.on",
    message: 'must be a list of 1 to 50 elements, for example ["attempt_timeout"]',
  },
  "retry has no wildcard": {
    document: retry({ on: ["*"] }),
    path: "steps[0].retry.on[0]",
    message: 'must be lower-case letters, digits and underscores, at most 64 characters, for example "quota"',
  },
  "an unknown field of retry names the nearest one": {
    document: retry({ max_attempt: 3 }),
    path: "steps[0].retry.max_attempt",
    message: "is not a field of retry; did you mean max_attempts?",
  },
  "timeout of a step is an object": {
    document: stepOf(task, { timeout: "30s" }),
    path: "steps[0].timeout",
    message: 'must be an object, for example {"attempt": "30s", "total": "10m"}',
  },
  "an attempt is at most 7 days": {
    document: stepOf(task, { timeout: { attempt: "8d" } }),
    path: "steps[0].timeout.attempt",
    message: "must be at most 7d",
    schema: false,
  },
  "a total time-out is at most 365 days": {
    document: stepOf(task, { timeout: { total: "366d" } }),
    path: "steps[0].timeout.total",
    message: "must be at most 365d",
    schema: false,
  },
  "a heartbeat is not longer than an attempt": {
    document: stepOf(task, { timeout: { attempt: "1s", heartbeat: "2s" } }),
    path: "steps[0].timeout.heartbeat",
    message: "must not be longer than attempt",
    schema: false,
  },
  "an attempt is not longer than all attempts": {
    document: stepOf(task, { timeout: { attempt: "2s", total: "1s" } }),
    path: "steps[0].timeout.attempt",
    message: "must not be longer than total, which includes all attempts",
    schema: false,
  },
  "catch is a list": {
    document: stepOf(task, { catch: { on: ["*"], steps: [] } }),
    path: "steps[0].catch",
    message: 'must be a list of 1 to 20 elements, for example [{"on": ["*"], "steps": []}]',
  },
  "an entry of catch lists codes": {
    document: stepOf(task, { catch: [{ steps: [] }] }),
    path: "steps[0].catch[0].on",
    message: 'is required, for example ["*"]',
  },
  "an entry of catch has steps": {
    document: stepOf(task, { catch: [{ on: ["*"] }] }),
    path: "steps[0].catch[0].steps",
    message: 'is required, for example [{"id": "fallback", "transform": 0}]',
  },
  "an entry of catch has known fields": {
    document: stepOf(task, { catch: [{ on: ["*"], step: [], steps: [] }] }),
    path: "steps[0].catch[0].step",
    message: "is not a field of an entry of catch; did you mean steps?",
  },
  "compensate is an object": {
    document: stepOf(task, { compensate: "undo" }),
    path: "steps[0].compensate",
    message: 'must be an object, for example {"task": {"queue": "crm", "type": "lead.unassign"}}',
  },
  "compensate is a step without blocks": {
    document: stepOf(task, { compensate: { branch: [] } }),
    path: "steps[0].compensate.branch",
    message: "is not a field of compensate; known are task, route, notify, action, subworkflow, with, retry, timeout",
  },
  "compensate has no id": {
    document: stepOf(task, { compensate: { id: "undo", ...task } }),
    path: "steps[0].compensate.id",
    message: "is not a field of compensate; known are task, route, notify, action, subworkflow, with, retry, timeout",
  },
  "a member named __proto__ is refused": {
    document: JSON.parse(
      '{"dsl": "1", "key": "a", "timeout": "1d", "steps": [{"id": "a", "transform": 1}], "output": {"__proto__": 1}}',
    ),
    path: "output",
    message: "must not have a member with the name __proto__: rename it",
    schema: false,
  },
  "constructor is an unknown field": {
    document: documentOf([noteStep("one")], { constructor: 1 as never }),
    path: "constructor",
    message:
      "is not a field of a definition; known are dsl, key, name, description, timeout, input_schema, retry, on_failure, steps, output",
  },
  "an append names a stream": {
    document: stepOf({ stream_append: { stream: "Audit", value: 1 } }),
    path: "steps[0].stream_append.stream",
    message:
      'must be a lower-case letter, then lower-case letters, digits, dots, underscores and hyphens, at most 63 characters, for example "audit"',
  },
  "an append has a value": {
    document: stepOf({ stream_append: { stream: "audit" } }),
    path: "steps[0].stream_append.value",
    message: 'is required, for example "=input"',
  },
  "the pins of an append are an object": {
    document: stepOf({ stream_append: { stream: "audit", value: 1, pins: "eu" } }),
    path: "steps[0].stream_append.pins",
    message: 'must be an object, for example {"retention": {"max_age_s": 3600}}',
  },
  "the limit of a read is bounded": {
    document: stepOf({ stream_read: { stream: "audit", limit: 1001 } }),
    path: "steps[0].stream_read.limit",
    message: "must be a whole number from 1 to 1000, for example 50",
  },
};
