import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readOperations } from "../../src/definitions/index.ts";
import { removeExpiredRecords } from "../../src/modules/workflows/streams/retention/prune-store.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { type CallError, restStreams, rpcStreams, type StreamClient, take } from "./stream-client.ts";
import { publishWaiting, startRun } from "./stream-fixture.ts";

let service: TestService;
let other: TestService;
let own: TenantFixture;
let db: Database;
let definition: string;
const clients: Record<string, StreamClient> = {};

before(async () => {
  service = await startService();
  other = await startService(
    { "auth.bootstrap_api_key": service.adminKey, "server.region": "mars" },
    service.databaseUrl,
  );
  own = await newTenant(service);
  definition = await publishWaiting(own, "stream.audit");
  db = openDatabase(service.databaseUrl, { maxConnections: 2 });
  afterFile(() => db.close());
  clients.REST = restStreams(service.baseUrl, own.key);
  clients.gRPC = rpcStreams("gRPC", service.baseUrl, own.key);
  clients.Connect = rpcStreams("Connect", service.baseUrl, own.key);
});

/** A stream of a new run, and the operations on it. */
async function openStream(client: StreamClient, pins: object = {}) {
  const runId = await startRun(own, definition);
  const { id } = await client.create(runId, "audit", pins);
  return {
    ...{ runId, id },
    key: { tenantId: own.id as TenantId, runId, streamId: id as string },
    append: (payload: unknown, options = {}) => client.append(runId, id, payload, options),
    async fill(count: number) {
      for (let n = 1; n <= count; n++) await client.append(runId, id, { n });
    },
    read: (cursor: number, limit = 0) => client.read(runId, id, cursor, limit),
    subscribe: (cursor: number) => client.subscribe(runId, id, cursor, AbortSignal.timeout(60_000)),
    ack: (consumer: string, sequence: number) => client.ack(runId, id, consumer, sequence),
    close: () => client.close(runId, id),
    hold: (held: boolean | undefined) => client.hold(runId, id, held, held ? "case 4711" : ""),
    get: () => client.get(runId, id),
  };
}

const sequencesOf = (records: readonly { readonly sequence: number }[]) => records.map(({ sequence }) => sequence);
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** Removes the records of a stream as if a time had passed. */
function prune(key: Parameters<typeof removeExpiredRecords>[1], afterDays: number, limit = 1000): Promise<unknown> {
  const now = new Date(Date.now() + afterDays * 86_400_000);
  return db.transaction((tx) => removeExpiredRecords(tx, key, now, limit));
}

/** Expects a call to fail; returns its error. */
async function refusal(code: string, call: Promise<unknown> | (() => Promise<unknown>)): Promise<CallError> {
  const error = (await (typeof call === "function" ? call() : call).then(
    () => assert.fail(`${code} was expected`),
    (thrown: unknown) => thrown,
  )) as CallError;
  assert.equal(error.code, code, String(error));
  return error;
}

for (const protocol of ["REST", "gRPC", "Connect"]) {
  const isRest = protocol === "REST";
  const rule = (name: string, run: (client: StreamClient) => Promise<void>) =>
    test(`${name} (${protocol})`, () => run(clients[protocol]!));

  rule("rule 1: every read returns the records after the cursor, ascending", async (client) => {
    const stream = await openStream(client);
    await stream.fill(7);
    assert.deepEqual(sequencesOf(await stream.read(0)), from(1, 7));
    assert.deepEqual(sequencesOf(await stream.read(4)), from(5, 7));
    assert.deepEqual(sequencesOf(await stream.read(2, 3)), from(3, 5));
    assert.deepEqual(sequencesOf(await stream.read(0, -5)), from(1, 7));
    assert.deepEqual(await stream.read(7), []);
    assert.deepEqual(
      (await stream.read(5)).map(({ payload }) => payload),
      [{ n: 6 }, { n: 7 }],
    );
    assert.deepEqual(sequencesOf(await take(stream.subscribe(3), 4)), from(4, 7));
  });

  rule("rule 2: a subscription has every record once, from before and after it started", async (client) => {
    const stream = await openStream(client);
    await stream.fill(30);
    const records = stream.subscribe(10);
    const reading = take(records, 60);
    await stream.fill(40);
    assert.deepEqual(sequencesOf(await reading), from(11, 70));
  });

  rule("rule 3: a wake-up without a commit shows nothing, and a commit without a wake-up is shown", async (client) => {
    const stream = await openStream(client);
    const reading = take(stream.subscribe(0), 1);
    const topic = `workflow.stream.records:${own.id}:${stream.runId}:${stream.id}`;
    await db.sql`select pg_notify('switchyard_wake', ${topic})`;
    assert.deepEqual(await stream.read(0), []);
    // Stored by a statement of somebody else, who wakes nobody.
    await db.sql`
      with advanced as (
        update workflow_stream_heads set last_sequence = 1, last_cum_bytes = 6 where stream_id = ${stream.id} returning *
      )
      insert into workflow_stream_records
      select tenant_id, run_id, stream_id, 1, 'output', 'data', '', '"dark"', null, 6, 6, now() from advanced`;
    assert.deepEqual((await reading)[0]!.payload, "dark");
  });

  rule("rule 4: a cursor before removed records gets the bounds and a reason", async (client) => {
    const stream = await openStream(client);
    await stream.fill(6);
    await prune(stream.key, 8, 4);
    const bounds = { requested_sequence: 2, earliest_sequence: 5, latest_sequence: 6 };
    const expected = isRest ? bounds : Object.fromEntries(Object.entries(bounds).map(([name, n]) => [name, String(n)]));
    for (const call of [() => stream.read(2), () => take(stream.subscribe(2), 1)]) {
      const error = await refusal("STREAM_RESYNC_REQUIRED", call);
      assert.equal(error.status, isRest ? 410 : 11);
      for (const [name, value] of Object.entries(expected)) assert.equal(error.extra[name], value, name);
      assert.equal(error.extra.resync_reason, "retention");
    }
    assert.deepEqual(sequencesOf(await stream.read(4)), [5, 6]);
    assert.deepEqual(sequencesOf(await take(stream.subscribe(4), 2)), [5, 6]);
    await prune(stream.key, 8);
    await refusal("STREAM_RESYNC_REQUIRED", stream.read(5));
    assert.deepEqual(await stream.read(6), []);
    assert.equal(await stream.append("next"), 7);
  });

  rule("rule 5: a cursor after the latest record is refused as invalid", async (client) => {
    const stream = await openStream(client);
    await stream.fill(2);
    const beyond = Number.MAX_SAFE_INTEGER;
    for (const call of [() => stream.read(3), () => take(stream.subscribe(3), 1), () => stream.read(beyond)]) {
      const error = await refusal("INVALID_ARGUMENT", call);
      assert.equal(error.status, isRest ? 400 : 3);
    }
  });

  rule("rule 6: an append gets the next sequence, or is refused without appending", async (client) => {
    const ceilings = { unread_items: 3, total_items: 5 };
    const stream = await openStream(client, { ceilings, on_unread_full: "reject" });
    assert.deepEqual([await stream.append(1), await stream.append(2), await stream.append(3)], [1, 2, 3]);
    await refusal("STREAM_BACKPRESSURE", stream.append(4));
    await stream.ack("c", 3);
    assert.deepEqual([await stream.append(4), await stream.append(5)], [4, 5]);
    await stream.ack("c", 5);
    const full = await refusal("STREAM_QUOTA_EXHAUSTED", stream.append(6));
    assert.equal(full.status, isRest ? 429 : 8);
    assert.deepEqual(sequencesOf(await stream.read(0)), from(1, 5));
    assert.equal(await stream.close(), "closed");
    await refusal("STREAM_CLOSED", stream.append(6));
    assert.deepEqual(sequencesOf(await stream.read(0)), from(1, 5));
    assert.deepEqual(sequencesOf(await take(stream.subscribe(0), 99)), from(1, 5), "ends after the last record");
  });

  rule("rule 6: an append to a stream that blocks waits for an acknowledgement", async (client) => {
    const stream = await openStream(client, { ceilings: { unread_items: 1 } });
    await stream.append(1);
    const waiting = stream.append(2);
    await stream.ack("c", 1);
    assert.equal(await waiting, 2);
    await refusal("STREAM_BACKPRESSURE", stream.append(3, { wait_s: 0 }));
  });

  rule("rule 7: credit follows the slowest consumer, and no subscriber changes it", async (client) => {
    const pins = { ceilings: { unread_items: 4, unread_bytes: 40 }, on_unread_full: "reject" };
    const stream = await openStream(client, pins);
    const text = "x".repeat(8);
    for (let n = 1; n <= 4; n++) await stream.append(text);
    await take(stream.subscribe(0), 4);
    await refusal("STREAM_BACKPRESSURE", stream.append(text));
    await stream.ack("fast", 4);
    assert.equal(await stream.append(text), 5);
    await stream.ack("slow", 2);
    const { unread_items: items, unreadItems = items } = await stream.get();
    assert.equal(Number(unreadItems), 3);
    // 30 of 40 bytes are unread: 10 more fit, and 11 do not.
    await refusal("STREAM_BACKPRESSURE", stream.append("y".repeat(9)));
    assert.equal(await stream.append("y".repeat(8)), 6);
    await refusal("STREAM_BACKPRESSURE", stream.append(""));
    await stream.ack("slow", 6);
    await refusal("STREAM_BACKPRESSURE", stream.append("z".repeat(19)));
    assert.equal(await stream.append("z".repeat(18)), 7);
  });

  rule("rule 8: acknowledgements only advance", async (client) => {
    const stream = await openStream(client);
    const foreign = await openStream(client);
    await stream.fill(5);
    assert.equal(await stream.ack("c", 3), 3);
    assert.equal(await stream.ack("c", 3), 3);
    await refusal("INVALID_ARGUMENT", stream.ack("c", 2));
    await refusal("INVALID_ARGUMENT", stream.ack("c", 6));
    await refusal("INVALID_ARGUMENT", stream.ack("new", 6));
    await refusal("NOT_FOUND", client.ack(foreign.runId, stream.id, "c", 4));
    await refusal("INVALID_ARGUMENT", client.ack(foreign.runId, foreign.id, "c", 4));
    assert.equal(await stream.ack("c", 5), 5);
    const [{ count } = { count: -1 }] = await db.sql<{ count: number }[]>`
      select count(*)::int as count from workflow_stream_consumers where stream_id = any(${[stream.id, foreign.id]})`;
    assert.equal(count, 1, "a refused acknowledgement registers no consumer");
  });

  rule("rule 9: backpressure is 429 with Retry-After", async (client) => {
    for (const on_unread_full of ["reject", "block"]) {
      const stream = await openStream(client, { ceilings: { unread_items: 1 }, on_unread_full });
      await stream.append(1);
      const error = await refusal(
        "STREAM_BACKPRESSURE",
        stream.append(2, { wait_s: on_unread_full === "block" ? 1 : 0 }),
      );
      assert.equal(error.status, isRest ? 429 : 8);
      assert.equal(error.retryAfter, "1");
    }
  });

  rule("rule 9: a record that can never fit is refused for good, and the ceiling is named", async (client) => {
    const stream = await openStream(client, { ceilings: { unread_bytes: 20 } });
    const error = await refusal("INVALID_ARGUMENT", stream.append("x".repeat(19), { wait_s: 20 }));
    if (isRest) assert.match(JSON.stringify(error.extra), /at most 20 bytes, the ceiling unread_bytes/);
    assert.equal(await stream.append("x".repeat(18)), 1);
  });

  rule("rule 10: a run that has ended receives no input records, and a repeated call its response", async (client) => {
    const stream = await openStream(client);
    const append = (name: string) =>
      stream.append({ answer: 42 }, { direction: "input", key: `${name} ${stream.runId}` });
    assert.equal(await append("first"), 1);
    await until(async () => (await own.ok("GET", `/api/workflow-runs/${stream.runId}`)).data.status === "succeeded");
    await refusal("FAILED_PRECONDITION", append("late"));
    assert.equal(await append("first"), 1);
    assert.equal(await stream.append("output"), 2);
  });

  rule("rule 10: an input record and its delivery are one commit, and its run gets one event", async (client) => {
    const stream = await openStream(client);
    await stream.append({ from: "output" });
    await stream.append({ answer: 42 }, { direction: "input" });
    await until(async () => (await own.ok("GET", `/api/workflow-runs/${stream.runId}`)).data.status === "succeeded");
    const { output } = (await own.ok("GET", `/api/workflow-runs/${stream.runId}`)).data;
    assert.equal(output.event, "stream.audit");
    assert.deepEqual([output.payload.sequence, output.payload.payload], [2, { answer: 42 }]);
    await until(async () => (await deliveriesOf(stream.id)) === 0);
  });

  rule("rule 11: a node of a region that is not pinned refuses, wherever the run computes", async (client) => {
    const stream = await openStream(client);
    await stream.fill(1);
    const away = isRest
      ? restStreams(other.baseUrl, own.key)
      : rpcStreams(protocol as "gRPC" | "Connect", other.baseUrl, own.key);
    const { runId, id } = stream;
    const calls = [
      () => away.get(runId, id),
      () => away.read(runId, id, 0),
      () => take(away.subscribe(runId, id, 0, AbortSignal.timeout(60_000)), 1),
      () => away.append(runId, id, "there"),
      () => away.ack(runId, id, "c", 1),
      () => away.close(runId, id),
      () => away.hold(runId, id, true, "no"),
      () => away.create(runId, "elsewhere", { metadata_home: "local" }),
    ];
    for (const call of calls) {
      const error = await refusal("REGION_NOT_ALLOWED", call);
      assert.equal(error.extra.region, "mars");
    }
    assert.deepEqual(sequencesOf(await stream.read(0)), [1]);
  });

  rule("a legal hold keeps records until it is released explicitly", async (client) => {
    const stream = await openStream(client);
    await stream.fill(2);
    assert.equal(await stream.hold(true), true);
    await refusal("INVALID_ARGUMENT", stream.hold(undefined));
    await prune(stream.key, 8);
    assert.deepEqual(sequencesOf(await stream.read(0)), [1, 2]);
    assert.equal(await stream.hold(false), false);
    await prune(stream.key, 8);
    assert.deepEqual(await stream.read(2), []);
  });

  rule("a repeated append with the same key returns the same sequence and appends nothing", async (client) => {
    const stream = await openStream(client);
    const key = freshName();
    await stream.append("before");
    const [first, second] = await Promise.all([
      stream.append("once", { key }).catch((error) => error),
      stream.append("once", { key }).catch((error) => error),
    ]);
    assert.deepEqual([first, second], [2, 2]);
    assert.equal(await stream.append("once", { key }), 2);
    await refusal("IDEMPOTENCY_KEY_REUSED", stream.append("twice", { key }));
    assert.equal(await stream.append("after"), 3);
  });
}

async function deliveriesOf(streamId: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::int as count from workflow_stream_deliveries where stream_id = ${streamId}`;
  return row!.count;
}

test("rule 12: no MCP tool reads or appends payloads", async () => {
  for (const path of ["/mcp", "/api/mcp"]) {
    const { status } = await own.rest.call("POST", path, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    assert.equal(status, 404);
  }
  const tools = readOperations().filter(
    ({ service: { name }, bindings }) =>
      name.startsWith("WorkflowStream") && bindings.some(({ path }) => !path.startsWith("/api/workflow-streams/")),
  );
  assert.deepEqual(tools, [], "payloads are reached by the paths of streams only");
});
