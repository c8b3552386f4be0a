import type { Json, JsonObject } from "../definition.ts";

/** A document with these steps, and with other fields if given. */
export function documentOf(steps: Json, fields: JsonObject = {}): JsonObject {
  return { dsl: "1", key: "lead.onboard", timeout: "14d", steps, ...fields };
}

/** A document with one step of a kind, and with other fields of the step if given. */
export function stepOf(work: JsonObject, fields: JsonObject = {}): JsonObject {
  return documentOf([{ id: "one", ...work, ...fields }]);
}

/** A step that needs nothing. */
export function noteStep(id: string, value: Json = 1): JsonObject {
  return { id, transform: value };
}

/** A step of a task. */
export const task: JsonObject = { task: { queue: "ml", type: "lead.score" } };

/** Steps nested in branches to a depth. */
export function nestedSteps(depth: number): JsonObject {
  const id = `level${depth}`;
  if (depth <= 1) return noteStep(id);
  return { id, branch: [{ when: "=true", steps: [nestedSteps(depth - 1)] }] };
}

/** Documents that can be published if what they refer to exists. */
export const validDocuments: Readonly<Record<string, JsonObject>> = {
  "a document with the required fields only": documentOf([noteStep("one")]),
  "a document with all fields": documentOf(
    [
      {
        id: "score",
        task: { queue: "ml", type: "lead.score", version: ">=2 <3", errors: ["quota"] },
        with: { id: "=input.id", literal: "==not an expression", deep: [{ list: ["=run.id"] }] },
        timeout: { attempt: "30s", total: "10m", heartbeat: "10s" },
        retry: { max_attempts: 5, initial: "1s", factor: 1.5, max: "60s", on: ["quota", "attempt_timeout"] },
        catch: [
          { on: ["quota"], steps: [noteStep("fallback", "=err.code + ' at ' + err.step")] },
          { on: ["*"], steps: [] },
        ],
        compensate: {
          task: { queue: "ml", type: "lead.unscore" },
          with: { score: "=steps.score.value", id: "=input.id" },
          retry: { max_attempts: 2 },
          timeout: { attempt: "1m" },
        },
      },
    ],
    {
      name: "Onboard a lead",
      description: "Scores and assigns.",
      input_schema: {
        type: "object",
        properties: {
          id: { type: "string", minLength: 1 },
          tags: { type: "array", items: { type: ["string", "null"] } },
        },
        required: ["id"],
        additionalProperties: false,
      },
      retry: { on: ["quota"] },
      on_failure: "compensate",
      output: { score: "=steps.score.value" },
    },
  ),
  "a route": stepOf({
    route: {
      pool: "sales",
      type: "lead",
      key: "=input.id",
      attributes: { region: "=input.region" },
      requirements: {},
      payload: null,
      priority: 5,
    },
  }),
  "an action": stepOf(
    { action: { action: "github.issue.create", connection: "=input.connection" } },
    { with: { title: "=input.title" }, catch: [{ on: ["outcome_unknown", "rate_limited"], steps: [] }] },
  ),
  "an action without a connection": stepOf({ action: { action: "github.issue.create" } }, { with: "=input.issue" }),
  "an append to a stream": stepOf(
    {
      stream_append: {
        stream: "audit",
        value: { id: "=input.id" },
        content_class: "message",
        schema_ref: "lead@2",
        pins: { content_classes: ["message"] },
      },
    },
    { catch: [{ on: ["stream_full", "stream_backpressure"], steps: [] }], retry: { on: ["stream_backpressure"] } },
  ),
  "a read of a stream": stepOf({ stream_read: { stream: "audit", cursor: "=input.cursor", limit: 10 } }),
  "a notification to a subscriber": stepOf({ notify: { workflow_key: "welcome", to: "=input.user" } }),
  "a notification to a topic": stepOf({
    notify: { workflow_key: "welcome", to: { topic: "news" }, channels: ["email"], payload: { name: "=input.name" } },
  }),
  "a subworkflow of a version": stepOf({ subworkflow: { key: "lead.enrich", version: 2, input: "=input" } }),
  "a branch with else": documentOf([
    noteStep("score", "=input.score"),
    {
      id: "pick",
      branch: [
        { when: "=steps.score > 70", steps: [noteStep("high", "=steps['score']")] },
        { when: "=steps.score > 50", steps: [] },
        { else: [noteStep("low")] },
      ],
    },
    noteStep("after", "=steps.pick"),
  ]),
  "parallel branches": documentOf([
    { id: "checks", parallel: { branches: { legal: [noteStep("legal1")], credit: [] }, on_error: "collect" } },
  ]),
  "nested maps": documentOf([
    {
      id: "docs",
      map: {
        in: "=input.documents",
        max_items: 50,
        max_parallel: 10,
        on_error: "collect",
        steps: [
          noteStep("title", "=item.title"),
          { id: "pages", map: { in: "=item.pages", max_items: 100, steps: [noteStep("page", "=[item, index]")] } },
        ],
      },
    },
  ]),
  "a map over a literal list": stepOf({ map: { in: [1, "=input.two"], max_items: 2, steps: [] } }),
  "a wait for one event": stepOf({
    wait_event: { event: "contract.signed", scope: "=input.id", timeout: "7d", on_timeout: [noteStep("late")] },
  }),
  "a wait for an update": documentOf([
    {
      id: "change",
      wait_event: {
        ...{ event: "amount", timeout: "7d" },
        update: { input_schema: { type: "integer" }, when: "=update / 2 < input.limit", answer: "reply" },
      },
    },
    noteStep("reply", "=steps.change.payload"),
  ]),
  "a branch that continues as new": stepOf({
    branch: [{ when: "=input.n > 1", steps: [{ id: "next", continue_as_new: { input: { n: "=input.n - 1" } } }] }],
  }),
  "a wait for any of several events": stepOf({
    wait_event: { any: [{ event: "contract.signed", scope: 7 }, { event: "contract.declined" }], timeout: "365d" },
  }),
  "timers of all forms": documentOf([
    { id: "a", wait_timer: { for: "0s" } },
    { id: "b", wait_timer: { for: "=input.wait" } },
    { id: "c", wait_timer: { until: "2030-01-31T09:00:00+01:00" } },
    { id: "d", wait_timer: { until: "=timestamp(input.at)" } },
  ]),
  "an approval": stepOf({
    approval: {
      by: ["role:operator", "user:ann"],
      quorum: 2,
      timeout: "2d",
      title: "=input.title",
      details: { lead: "=input.id" },
      comment: "required",
      on_timeout: [{ id: "late", fail: { code: "unsigned", message: "Nobody decided." } }],
    },
  }),
  "a failure that a block catches": documentOf([
    {
      id: "block",
      branch: [{ when: "=input.bad", steps: [{ id: "stop", fail: { code: "unsigned" } }] }],
      catch: [{ on: ["unsigned"], steps: [] }],
    },
  ]),
  "sixteen levels": documentOf([nestedSteps(16)]),
  "five hundred steps": documentOf(Array.from({ length: 500 }, (_, at) => noteStep(`s${at}`))),
};
