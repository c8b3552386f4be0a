import assert from "node:assert/strict";
import { before, test } from "node:test";
import { appendBatch } from "../../src/modules/workflows/streams/append/append-store.ts";
import { contentClassOf } from "../../src/modules/workflows/streams/index.ts";
import { removeExpiredRecords } from "../../src/modules/workflows/streams/retention/prune-store.ts";
import { pruneStreamsJob } from "../../src/modules/workflows/streams/retention/retention-job.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { restStreams, type StreamClient } from "./stream-client.ts";
import { newStream, publishWaiting, startRun, type TestStream } from "./stream-fixture.ts";

let service: TestService;
let own: TenantFixture;
let db: Database;
let client: StreamClient;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  db = openDatabase(service.databaseUrl, { maxConnections: 3 });
  afterFile(() => db.close());
  client = restStreams(service.baseUrl, own.key);
});

const keyOf = ({ runId, id }: Pick<TestStream, "runId" | "id">) => ({
  ...{ tenantId: own.id as TenantId, runId, streamId: id },
});

/** An append of a node that stops after its commit. */
const inputOf = (stream: Pick<TestStream, "runId" | "id">, payload: unknown) => ({
  key: keyOf(stream),
  records: [
    {
      ...{ direction: "input" as const, contentClass: "data", schemaRef: "", bytes: 10 },
      payloadJson: JSON.stringify(payload),
    },
  ],
  ceilings: { unread_items: 100, unread_bytes: 10_000, total_items: 100, total_bytes: 10_000 },
  ...{ maxAgeS: 3600, appendedAtMs: Date.now(), idempotency: undefined },
});

test("rule 10: the deliveries of a node that died are carried out by another one, once and in order", async () => {
  const key = freshName();
  const wait = (id: string) => ({ id, wait_event: { event: "stream.audit", timeout: "1h" } });
  const document = {
    ...{ dsl: "1", key, timeout: "1h", steps: [wait("a"), wait("b")] },
    output: ["=steps.a.payload.payload", "=steps.b.payload.payload"],
  };
  const { id } = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  const stream = await newStream(own, {}, key);
  await appendBatch(db.sql, [inputOf(stream, "first"), inputOf(stream, "second")]);
  const open = () => db.sql`select from workflow_stream_deliveries where stream_id = ${stream.id}`;
  assert.equal((await open()).length, 2, "the deliveries are stored with the records");
  await db.sql`update workflow_stream_deliveries set due_at = now() where stream_id = ${stream.id}`;
  await until(async () => (await open()).length === 0);
  const run = (await own.ok("GET", `/api/workflow-runs/${stream.runId}?wait_s=10`)).data;
  assert.deepEqual([run.status, run.output], ["succeeded", ["first", "second"]]);
});

test("rule 10: a record whose commit fails leaves neither a record nor a delivery", async () => {
  const stream = await newStream(own);
  await assert.rejects(
    db.transaction(async (tx) => {
      await appendBatch(tx, [inputOf(stream, "lost")]);
      throw new Error("crash");
    }),
    /crash/,
  );
  assert.deepEqual(await client.read(stream.runId, stream.id, 0), []);
  assert.equal((await db.sql`select from workflow_stream_deliveries where stream_id = ${stream.id}`).length, 0);
  assert.equal(await client.append(stream.runId, stream.id, "kept"), 1);
});

test("the pins of a stream never change: a second definition with its name is refused", async () => {
  const stream = await newStream(own, { content_classes: ["message"] });
  await assert.rejects(client.create(stream.runId, "audit", { content_classes: ["log"] }), { code: "ALREADY_EXISTS" });
  for (const idOrName of [stream.id, "audit"]) {
    const { pins, digest } = await client.get(stream.runId, idOrName);
    assert.deepEqual([pins, digest], [stream.stream.pins, stream.stream.digest]);
    assert.equal(contentClassOf(pins, ""), "message");
  }
  await assert.rejects(client.append(stream.runId, stream.id, 1, { content_class: "log" }), {
    code: "INVALID_ARGUMENT",
  });
  await assert.rejects(client.create(stream.runId, "other", { content_classes: ["hidden_reasoning"] }), {
    code: "INVALID_ARGUMENT",
  });
});

test("payloads are redacted before they are stored", async () => {
  const secret = freshName();
  const redaction = [
    { path: "/card", action: "drop" },
    { path: "/people/*/email", action: "hash" },
    { path: "/note", action: "mask" },
  ];
  const stream = await newStream(own, { redaction });
  const payload = { card: secret, people: [{ email: secret }, { email: secret }], note: secret, kept: 1 };
  await client.append(stream.runId, stream.id, payload, { key: freshName() });
  const [read] = await client.read(stream.runId, stream.id, 0);
  const { people, ...rest } = read!.payload as { people: { email: string }[] };
  assert.deepEqual(rest, { note: "***", kept: 1 });
  assert.equal(people[0]!.email, people[1]!.email);
  const [stored] = await db.sql<{ rows: string }[]>`
    select (select json_agg(r)::text from workflow_stream_records r)
      || (select coalesce(json_agg(i)::text, '') from idempotency_records i) as rows`;
  assert.ok(!stored!.rows.includes(secret));
});

test("the pinned authorization decides who reads and who appends", async () => {
  const stream = await newStream(own, { authorization: { readers: ["role:viewer"], writers: ["role:operator"] } });
  const viewer = await own.caller({ roles: ["viewer"] });
  const operator = await own.caller({ roles: ["operator"] });
  const append = { payload: 1 };
  assert.equal((await operator.call("POST", `${stream.path}/records`, append)).status, 200);
  assert.equal((await operator.call("GET", `${stream.path}/records`)).status, 403);
  assert.equal((await viewer.call("GET", `${stream.path}/records`)).status, 200);
  assert.equal((await viewer.call("POST", `${stream.path}/records`, append)).status, 403);
  assert.equal((await own.rest.call("GET", `${stream.path}/records`)).status, 403, "an admin is not exempt");
});

test("the event of an input record shows no payload to callers who read the run and may not read the stream", async () => {
  const definition = await publishWaiting(own, "stream.audit");
  for (const [readers, isShown] of [
    [["role:auditor"], false],
    [[], true],
  ] as const) {
    const { runId, path } = await newStream(own, { authorization: { readers } }, definition);
    await own.ok("POST", `${path}/records`, { payload: { text: "for readers" }, direction: "input" });
    const run = (await own.ok("GET", `/api/workflow-runs/${runId}?wait_s=20`)).data;
    assert.deepEqual([run.status, run.output.payload.sequence], ["succeeded", 1]);
    const history = await own.ok("GET", `/api/workflow-runs/${runId}/history`);
    assert.equal(JSON.stringify([run, history]).includes("for readers"), isShown, `${readers}`);
  }
});

test("Last-Event-ID takes precedence over the cursor of the query, and must be a sequence", async () => {
  const stream = await newStream(own);
  for (const n of [1, 2, 3]) await client.append(stream.runId, stream.id, n);
  const subscribe = (lastEventId: string) =>
    fetch(`${service.baseUrl}${stream.path}/subscribe?cursor=1`, {
      headers: { "x-api-key": own.key, "last-event-id": lastEventId },
    });
  await client.close(stream.runId, stream.id);
  assert.deepEqual((await (await subscribe("2")).text()).match(/^id: .*$/gm), ["id: 3"]);
  for (const wrong of ["x", "-1", "1.5", "4"]) assert.equal((await subscribe(wrong)).status, 400, wrong);
});

test("an inline record has at most 64 KiB, to the byte", async () => {
  const stream = await newStream(own);
  // A text has two quotes as JSON.
  assert.equal(await client.append(stream.runId, stream.id, "x".repeat(64 * 1024 - 2)), 1);
  await assert.rejects(client.append(stream.runId, stream.id, "x".repeat(64 * 1024 - 1)), { code: "INVALID_ARGUMENT" });
  await assert.rejects(client.append(stream.runId, stream.id, "é".repeat(32 * 1024)), { code: "INVALID_ARGUMENT" });
});

test("the retention job removes old records in order, frees their objects, and respects a hold set meanwhile", async () => {
  const [pruned, held] = [await newStream(own, { retention: { max_age_s: 60 } }), await newStream(own)];
  for (const { runId, id } of [pruned, held]) for (const n of [1, 2, 3]) await client.append(runId, id, n);
  const object = { object_key: freshName(), sha256: "0", size_bytes: 5 };
  await db.sql`
    update workflow_stream_records set payload = null, object = ${JSON.stringify(object)}::text::json
    where stream_id = ${pruned.id} and sequence = 2`;
  await client.hold(held.runId, held.id, true, "case");
  const released: string[] = [];
  const job = pruneStreamsJob({
    ...{ db, platformTenantId: () => "", signals: { wake() {} } as never },
    clock: { now: () => Date.now() + 8 * 86_400_000 } as never,
    metrics: { pruned() {} } as never,
    releaseObjects: async (_tx, _tenantId, keys) => {
      released.push(...keys);
    },
  });
  await job.handler({ signal: new AbortController().signal } as never);
  assert.deepEqual(released, [object.object_key]);
  const state = await client.get(pruned.runId, pruned.id);
  assert.deepEqual([state.earliest_sequence, state.latest_sequence, state.items, state.bytes], [4, 3, 0, 0]);
  assert.equal((await client.read(held.runId, held.id, 0)).length, 3);
  // A hold that is set while records are removed waits for the end of the removal.
  const now = new Date(Date.now() + 8 * 86_400_000);
  await client.hold(held.runId, held.id, false, "");
  let holding: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await removeExpiredRecords(tx, keyOf(held), now, 1);
    holding = client.hold(held.runId, held.id, true, "case");
  });
  await holding;
  const after = await db.transaction((tx) => removeExpiredRecords(tx, keyOf(held), now, 10));
  assert.equal(after.count, 0);
  assert.deepEqual(
    (await client.read(held.runId, held.id, 1)).map(({ sequence }) => sequence),
    [2, 3],
  );
});

test("a stream without records is removed after its run, unless it is held", async () => {
  const runId = await startRun(own, await publishWaiting(own));
  const { id } = await client.create(runId, "audit");
  const heldRun = await startRun(own, await publishWaiting(own));
  const held = await client.create(heldRun, "audit");
  await client.hold(heldRun, held.id, true, "case");
  await db.sql`delete from workflow_runs where id = any(${[runId, heldRun]})`;
  const job = pruneStreamsJob({
    ...{ db, platformTenantId: () => "", signals: { wake() {} } as never, clock: { now: () => Date.now() } as never },
    ...{ metrics: { pruned() {} } as never, releaseObjects: undefined },
  });
  await job.handler({ signal: new AbortController().signal } as never);
  const left = await db.sql<{ id: string }[]>`select id from workflow_streams where id = any(${[id, held.id]})`;
  assert.deepEqual(
    left.map((row) => row.id),
    [held.id],
  );
});
