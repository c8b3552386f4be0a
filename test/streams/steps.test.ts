import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { restStreams, type StreamClient } from "./stream-client.ts";

let own: TenantFixture;
let client: StreamClient;
before(async () => {
  const service = await startService();
  own = await newTenant(service);
  client = restStreams(service.baseUrl, own.key);
});

/** Publishes and starts a workflow; returns the run after it ended. */
async function runToEnd(steps: readonly object[], input: unknown = {}): Promise<ResponseData> {
  const { id } = await start(steps, input);
  return (await own.ok("GET", `/api/workflow-runs/${id}?wait_s=15`)).data;
}

async function start(steps: readonly object[], input: unknown = {}): Promise<ResponseData> {
  const key = freshName();
  const document = { dsl: "1", key, timeout: "1h", retry: { max_attempts: 2, initial: "1ms" }, steps };
  const definition = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${definition.id}/publish`, {});
  return (await own.ok("POST", "/api/workflow-runs", { definition: key, input })).data.run;
}

const append = (id: string, value: unknown, more: object = {}) => ({
  id,
  stream_append: { stream: "audit", value, ...more },
});

test("stream_append creates the stream with its pins, and stream_read reads what was appended", async () => {
  const run = await runToEnd(
    [
      append(
        "first",
        { n: "=input.n" },
        { pins: { retention: { max_age_s: 60 }, content_classes: ["message", "log"] }, content_class: "log" },
      ),
      append("second", "=steps.first.sequence", { content_class: "message", schema_ref: "count@1" }),
      { id: "all", stream_read: { stream: "audit" } },
      { id: "rest", stream_read: { stream: "audit", cursor: "=steps.first.sequence", limit: 1 } },
    ],
    { n: 7 },
  );
  assert.equal(run.status, "succeeded", JSON.stringify(run.error));
  assert.deepEqual(run.values?.first ?? { stream: "audit", sequence: 1 }, { stream: "audit", sequence: 1 });
  const second = { sequence: 2, direction: "output", content_class: "message", schema_ref: "count@1", payload: 1 };
  assert.deepEqual(run.output, { records: [second], next_cursor: 2, latest_sequence: 2, closed: false });
  const stream = await client.get(run.id, "audit");
  assert.deepEqual([stream.pins.retention.max_age_s, stream.created_by], [60, "service:workflow"]);
  assert.deepEqual(
    (await client.read(run.id, "audit", 0)).map(({ payload }) => payload),
    [{ n: 7 }, 1],
  );
});

test("a stream step fails with a code that a catch can name", async () => {
  const caught = (id: string, on: string) => [{ on: [on], steps: [{ id: `${id}_code`, transform: "=err.code" }] }];
  const tiny = { pins: { ceilings: { total_items: 1 } } };
  const run = await runToEnd(
    [
      append("one", 1, tiny),
      { ...append("full", 2), catch: caught("full", "stream_full") },
      { ...append("large", "=input.large"), catch: caught("large", "invalid_input") },
      { id: "absent", stream_read: { stream: "absent" }, catch: caught("absent", "stream_not_found") },
      { id: "future", stream_read: { stream: "audit", cursor: 9 }, catch: caught("future", "invalid_input") },
      { id: "text", stream_read: { stream: "audit", cursor: "=input.large" }, catch: caught("text", "invalid_input") },
      { id: "codes", transform: ["=steps.full", "=steps.large", "=steps.absent", "=steps.future", "=steps.text"] },
    ],
    { large: "x".repeat(70_000) },
  );
  assert.equal(run.status, "succeeded", JSON.stringify(run.error));
  assert.deepEqual(run.output, ["stream_full", "invalid_input", "stream_not_found", "invalid_input", "invalid_input"]);
});

test("a step with backpressure is retried until a consumer acknowledges", async () => {
  const key = { pins: { ceilings: { unread_items: 1 }, on_unread_full: "block" } };
  // The attempts outlast what the consumer needs on a busy machine.
  const retry = { max_attempts: 50, initial: "1s", factor: 1 };
  const run = await start([append("one", 1, key), { ...append("two", 2), retry }]);
  const reading = client.subscribe(run.id, "audit", 0, AbortSignal.timeout(60_000));
  for await (const { sequence } of await subscribed(reading, run.id)) {
    await client.ack(run.id, "audit", "c", sequence);
    if (sequence === 2) break;
  }
  const ended = (await own.ok("GET", `/api/workflow-runs/${run.id}?wait_s=15`)).data;
  assert.equal(ended.status, "succeeded", JSON.stringify(ended.error));
  assert.deepEqual(ended.output, { stream: "audit", sequence: 2 });
});

/** Waits until the stream exists, so that it can be followed. */
async function subscribed<T>(records: AsyncIterable<T>, runId: string): Promise<AsyncIterable<T>> {
  const path = `/api/workflow-streams/runs/${runId}/streams/audit`;
  await until(async () => (await own.rest.call("GET", path)).status === 200);
  return records;
}

test("a run waits for an input record, and reads it from its stream", async () => {
  const run = await start([
    append("ask", { question: "?" }),
    { id: "answer", wait_event: { event: "stream.audit", timeout: "1h" } },
    { id: "read", stream_read: { stream: "audit", cursor: "=steps.answer.payload.sequence - 1" } },
  ]);
  await subscribed([] as never, run.id);
  const sequence = await client.append(run.id, "audit", { answer: 42 }, { direction: "input" });
  const ended = (await own.ok("GET", `/api/workflow-runs/${run.id}?wait_s=15`)).data;
  assert.equal(ended.status, "succeeded", JSON.stringify(ended.error));
  assert.deepEqual(
    ended.output.records.map((record: ResponseData) => [record.sequence, record.direction, record.payload]),
    [[sequence, "input", { answer: 42 }]],
  );
});
