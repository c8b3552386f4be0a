import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";
import { before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Code, ConnectError } from "@connectrpc/connect";
import { lockFor } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";
import { openWork, streamProtocols, type WorkFields, type WorkReader } from "./work-reader.ts";

let service: TestService;
let own: TenantFixture;
/** The same tenant on another node. */
let elsewhere: TenantFixture;
let sql: TestSql;
before(async () => {
  const database = await freshDatabase();
  const settings = { "auth.bootstrap_api_key": "sk_test_streams_0123456789abcdef" };
  service = await startService(settings, database.url);
  const other = await startService(settings, database.url);
  own = await newTenant(service);
  elsewhere = tenantAt(other, own);
  sql = connect(database.url, 2);
  afterFile(async () => {
    await sql.end({ timeout: 1 });
    await Promise.all([service.stop(), other.stop()]);
    await database.drop();
  });
});

const ids = (items: readonly ResponseData[]) => items.map(({ queue_item_id }) => queue_item_id);
const ref = ({ queue_item_id, lease_token }: ResponseData) => ({ queue_item_id, lease_token });
const rpcProtocols = streamProtocols.filter((protocol) => protocol !== "SSE");
const quick = { retry: { initial_ms: 1, max_ms: 1, jitter: 0 } };

/** Routes items; returns their ids. */
async function routeTo(pool: string, count: number, fields: object = {}): Promise<string[]> {
  const items = Array.from({ length: count }, (_, n) => ({ pool_id: pool, type: "task", payload: { n }, ...fields }));
  return (await own.routeAll(items)).map(({ decision }) => decision.queue_item_id);
}

/** Opens a stream that is closed after the test. */
async function opened(
  t: TestContext,
  pool: string,
  fields: WorkFields = {},
  protocol: (typeof streamProtocols)[number] = "SSE",
  key = own.key,
): Promise<WorkReader> {
  const reader = await openWork({ baseUrl: service.baseUrl, key }, pool, fields, protocol);
  t.after(() => reader.close());
  return reader;
}

for (const protocol of streamProtocols) {
  test(`${protocol}: a stream sends items as the worker's credit allows, several in one message`, async (t) => {
    const pool = await own.pool();
    const items = await routeTo(pool, 6);
    const work = await opened(t, pool, { max_in_flight: 3 }, protocol);
    const first = await work.next();
    assert.deepEqual(ids(first), items.slice(0, 3));
    assert.deepEqual(
      first.map(({ payload, attempt }) => [payload, attempt]),
      [0, 1, 2].map((n) => [{ n }, 1]),
    );
    const { in_flight, ready_count } = await own.status(pool);
    assert.deepEqual([in_flight, ready_count], [3, 3]);
    await own.ok("POST", `/api/queues/${pool}/items:complete`, { items: first.slice(0, 2).map(ref) });
    const second = await work.next();
    assert.deepEqual(ids(second), items.slice(3, 5));
    await own.complete(first[2]);
    assert.deepEqual(ids(await work.next()), items.slice(5));
    // A stream with free credit gets an item when it arrives.
    await own.complete(second[0]);
    const arriving = work.next();
    const { queue_item_id } = await own.route(pool);
    assert.deepEqual(ids(await arriving), [queue_item_id]);
  });
}

test("an invalid request is rejected before the stream starts", async () => {
  const pool = await own.pool();
  const rejects = async (poolId: string, fields: WorkFields, code: string, rpcCode: Code) => {
    await own.refused(code, "POST", `/api/queues/${poolId}/work`, fields);
    for (const protocol of rpcProtocols) {
      const work = await openWork({ ...service, key: own.key }, poolId, fields, protocol);
      await assert.rejects(work.next(), (error) => error instanceof ConnectError && error.code === rpcCode);
    }
  };
  await rejects(pool, { max_in_flight: 1001 }, "INVALID_ARGUMENT", Code.InvalidArgument);
  await rejects(pool, { max_in_flight: -1 }, "INVALID_ARGUMENT", Code.InvalidArgument);
  await rejects(pool, { recipient_id: "nobody" }, "NOT_FOUND", Code.NotFound);
  await rejects("nowhere", {}, "NOT_FOUND", Code.NotFound);
});

test("a worker without a stated credit holds ten items at a time", async (t) => {
  const pool = await own.pool();
  await routeTo(pool, 12);
  const work = await opened(t, pool);
  assert.equal((await work.next()).length, 10);
});

/** The calls that end an item of a stream. */
const endings: Readonly<Record<string, (item: ResponseData) => Promise<unknown>>> = {
  "is completed": (item) => own.complete(item),
  fails: (item) => own.fail(item, { retryable: false }),
  "is completed in a batch": (item) =>
    own.ok("POST", `/api/queues/${item.pool_id}/items:complete`, { items: [ref(item)] }),
  "fails in a batch": (item) =>
    own.ok("POST", `/api/queues/${item.pool_id}/items:fail`, { items: [ref(item)], retryable: false }),
  "is reported with a lease call": (item) =>
    own.ok("POST", `/api/queues/${item.pool_id}/lease`, { completed: [ref(item)], report_only: true }),
  "is completed under an idempotency key": (item) =>
    own.ok("POST", `/api/queues/${item.pool_id}/items/${item.queue_item_id}/complete`, ref(item), {
      "idempotency-key": item.queue_item_id,
    }),
  "is cancelled": (item) => own.ok("POST", `/api/queues/${item.pool_id}/items/${item.queue_item_id}/cancel`, {}),
  "is completed on another node": (item) => elsewhere.complete(item),
  "fails on another node": (item) => elsewhere.fail(item, { retryable: false }),
  "is cancelled on another node": (item) =>
    elsewhere.ok("POST", `/api/queues/${item.pool_id}/items/${item.queue_item_id}/cancel`, {}),
};
for (const [what, end] of Object.entries(endings)) {
  test(`a stream gets its next item when an item of it ${what}`, async (t) => {
    const pool = await own.pool();
    const items = await routeTo(pool, 3);
    const work = await opened(t, pool, { max_in_flight: 1 });
    for (const id of items) {
      const [item, ...others] = await work.next();
      assert.deepEqual([item.queue_item_id, others], [id, []]);
      await end(item);
    }
  });
}

test("the credit of an item is free when its lease expires, and heartbeats keep it used", async (t) => {
  const pool = await own.pool();
  const [first, second] = await routeTo(pool, 2);
  const work = await opened(t, pool, { max_in_flight: 1, lease_s: 5 });
  const [item] = await work.next();
  assert.equal(item.queue_item_id, first);
  const beat = await own.ok("POST", `/api/queues/${pool}/items/${first}/heartbeat`, { ...ref(item), lease_s: 7 });
  const [next] = await work.next();
  const { leased_at } = await own.item(pool, next.queue_item_id);
  assert.ok(Date.parse(leased_at) >= Date.parse(beat.data.lease_expires_at), `${leased_at} is too soon`);
  // The expired item is older, and back in the queue or about to be.
  assert.ok([first, second].includes(next.queue_item_id));
});

test("a stream honours a pause, a disabled pool and the state of its recipient, also while it waits", async (t) => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const requirements = { recipient_id: recipient };
  const work = await opened(t, pool, { recipient_id: recipient, max_in_flight: 100 });
  const given = async () => {
    const [id] = await routeTo(pool, 1, { requirements });
    assert.deepEqual(ids(await work.next()), [id]);
  };
  await given();
  const blocks: readonly [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      "a paused queue",
      () => own.ok("POST", `/api/queues/${pool}/pause`, { reason: "test" }),
      () => own.ok("POST", `/api/queues/${pool}/resume`, {}),
    ],
    [
      "a paused recipient",
      () => own.ok("PATCH", `/api/recipients/${recipient}`, { status: "STATUS_PAUSED" }),
      () => own.ok("PATCH", `/api/recipients/${recipient}`, { status: "STATUS_ACTIVE" }),
    ],
    [
      "a disabled pool",
      () => own.ok("PATCH", `/api/pools/${pool}`, { status: "STATUS_DISABLED" }),
      () => own.ok("PATCH", `/api/pools/${pool}`, { status: "STATUS_ACTIVE" }),
    ],
  ];
  for (const [what, block, unblock] of blocks) {
    // The item waits for the recipient before the block.
    await own.ok("POST", `/api/queues/${pool}/pause`, { reason: "prepare" });
    const [id] = await routeTo(pool, 1, { requirements });
    await block();
    if (what !== "a paused queue") await own.ok("POST", `/api/queues/${pool}/resume`, {});
    // The stream polls at least once during this wait.
    assert.deepEqual(await own.lease(pool, { recipient_id: recipient, wait_s: 1 }), [], what);
    assert.equal((await own.item(pool, id!)).state, "ready", what);
    await unblock();
    assert.deepEqual(ids(await work.next()), [id], what);
  }
});

test("a stream honours its recipient's capacity and the pool's limits", async (t) => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const items = await routeTo(pool, 3, { requirements: { recipient_id: recipient } });
  await own.ok("PATCH", `/api/recipients/${recipient}`, { capacity: 1 });
  const work = await opened(t, pool, { recipient_id: recipient });
  for (const id of items) {
    const [item, ...others] = await work.next();
    assert.deepEqual([item.queue_item_id, others], [id, []]);
    await own.complete(item);
  }

  const limited = await own.pool({ config: { admission: { concurrency: { limit: 2, key: "item.type" } } } });
  await routeTo(limited, 5);
  const slots = await opened(t, limited);
  let done = 0;
  for (const held = await slots.take(2); done < 5; done++) {
    assert.ok((await own.status(limited)).in_flight <= 2);
    await own.complete(held.shift());
    if (done < 3) held.push(...(await slots.next()));
  }
});

test("several streams and lease calls of one pool share its items, each of them once", async (t) => {
  const pool = await own.pool({ config: quick });
  const all = new Set(await routeTo(pool, 120));
  const seen: string[] = [];
  const worker = async (protocol: (typeof streamProtocols)[number]) => {
    const work = await opened(t, pool, { max_in_flight: 7 }, protocol);
    for (;;) {
      const items = await work.next().catch(() => []);
      if (items.length === 0) return;
      seen.push(...ids(items));
      await own.ok("POST", `/api/queues/${pool}/items:complete`, { items: items.map(ref) });
    }
  };
  const workers = streamProtocols.map(worker);
  await until(
    () => own.status(pool),
    ({ depth, in_flight }) => depth === 0 && in_flight === 0,
  );
  assert.deepEqual(seen.toSorted(), [...all].sort());
  assert.equal(workers.length, 4);
});

test("a stream ends when its key is revoked, says why, and the items stay in the queue", async (t) => {
  for (const protocol of ["SSE", "gRPC"] as const) {
    const pool = await own.pool();
    const { data: key } = await own.ok("POST", "/api/v2/api-keys", { name: "worker", roles: ["operator"] });
    const work = await opened(t, pool, {}, protocol, key.secret);
    const [first] = await routeTo(pool, 1);
    assert.deepEqual(ids(await work.next()), [first]);
    await own.ok("POST", `/api/v2/api-keys/${key.id}/revoke`);
    const [second] = await routeTo(pool, 1);
    await assert.rejects(work.next(), (error) =>
      error instanceof ConnectError
        ? error.code === Code.Unauthenticated
        : (error as { problem?: ResponseData }).problem?.errorCode === "UNAUTHENTICATED",
    );
    assert.equal((await own.leaseOne(pool)).queue_item_id, second);
  }
});

test("a stream whose recipient is deleted ends with an error", async (t) => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const work = await opened(t, pool, { recipient_id: recipient });
  await own.ok("DELETE", `/api/recipients/${recipient}`);
  await assert.rejects(
    work.next(),
    (error) => (error as { problem?: ResponseData }).problem?.errorCode === "NOT_FOUND",
  );
});

async function activeCalls(): Promise<number> {
  const text = await service.service.metrics.render();
  return Number(/^rpc_server_active_calls\{[^}]*external[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

for (const protocol of streamProtocols) {
  test(`${protocol}: an item that is leased while its worker disconnects returns to the queue at once`, async (t) => {
    const pool = await own.pool({ config: { lease: { duration_s: 3600 } } });
    const recipient = await own.recipient(pool, { capacity: 5 });
    const requirements = { recipient_id: recipient };
    const [sent] = await routeTo(pool, 1, { requirements });
    const work = await opened(t, pool, { recipient_id: recipient }, protocol);
    assert.deepEqual(ids(await work.next()), [sent]);
    const ended = work.next().catch(() => {});
    let unsent: string | undefined;
    await sql.begin(async (tx) => {
      // The lease waits for the lock of the recipient's capacity.
      await lockFor(tx, "recipient_capacity", recipient);
      [unsent] = await routeTo(pool, 1, { requirements });
      const waiting = () => tx`select from pg_locks where locktype = 'advisory' and not granted`;
      await until(waiting, ({ count }) => count > 0);
      work.close();
      await ended;
      await until(activeCalls, (count) => count === 0);
    });
    const returned = await until(
      () => own.item(pool, unsent!),
      ({ state }) => state === "ready",
    );
    // It was not delivered, so the attempt does not count.
    assert.deepEqual([returned.attempt, returned.failures], [0, []]);
    // The worker may have received the other item, so that stays leased until its lease expires.
    assert.equal((await own.item(pool, sent!)).state, "leased");
  });
}

test("no items are leased for a worker that does not read, and the next ones follow when it reads again", async (t) => {
  const pool = await own.pool();
  const large = { payload: { text: "x".repeat(100_000) } };
  // More than the buffers of a connection hold.
  for (let n = 0; n < 4; n++) await routeTo(pool, 40, large);
  const request = http.request(`${service.baseUrl}/api/queues/${pool}/work`, {
    method: "POST",
    headers: { "x-api-key": own.key, "content-type": "application/json" },
  });
  t.after(() => request.destroy());
  request.end(JSON.stringify({ max_in_flight: 1000 }));
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.on("error", () => {});
  // The worker gets what the connection holds, and no more.
  let inFlight = -1;
  await until(
    async () => (await own.status(pool)).in_flight as number,
    (count) => {
      const isSettled = count > 0 && count === inFlight;
      inFlight = count;
      return isSettled;
    },
  );
  assert.ok(inFlight < 160, `${inFlight}`);
  const others = await own.lease(pool, { max_items: 5 });
  assert.equal(others.length, 5);
  const [last] = await routeTo(pool, 1);
  const chunks: string[] = [];
  for await (const chunk of response.setEncoding("utf8")) {
    chunks.push(chunk);
    if (chunks.slice(-2).join("").includes(last!)) break;
  }
  assert.equal(chunks.join("").match(/"queue_item_id"/g)?.length, 156);
});

test("an open stream is one of the concurrent calls of its tenant", async (t) => {
  const key = "api.max_concurrent_requests_per_tenant";
  const tenant = await newTenant(service);
  const pool = await tenant.pool();
  await tenant.ok("PUT", `/api/config/values/${key}`, { value: 2 });
  const worker = { baseUrl: service.baseUrl, key: tenant.key };
  const streams = await Promise.all([openWork(worker, pool), openWork(worker, pool)]);
  t.after(() => streams.map((stream) => stream.close()));
  await tenant.refused("UNAVAILABLE", "POST", `/api/queues/${pool}/lease`, {});
  streams[0]!.close();
  await until(
    () => tenant.rest.call("POST", `/api/queues/${pool}/lease`, {}),
    ({ status }) => status === 200,
  );
});

test("the items of a worker that is killed return after their leases, once", async (t) => {
  const pool = await own.pool();
  const items = await routeTo(pool, 5);
  const script = fileURLToPath(new URL("stream-worker.ts", import.meta.url));
  const child = spawn(process.execPath, [script, service.baseUrl, own.key, pool, "3"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lost: ResponseData[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lost.push(JSON.parse(line));
    if (lost.length === items.length) break;
  }
  assert.deepEqual(ids(lost), items);
  child.kill("SIGKILL");
  await once(child, "exit");

  const work = await opened(t, pool, { lease_s: 60 });
  const back = await work.take(items.length);
  assert.deepEqual(ids(back).sort(), items.toSorted());
  for (const item of back) {
    const before = lost.find(({ queue_item_id }) => queue_item_id === item.queue_item_id);
    const { leased_at, failures } = await own.item(pool, item.queue_item_id);
    assert.ok(Date.parse(leased_at) >= Date.parse(before.lease_expires_at), `${leased_at} is too soon`);
    assert.deepEqual([item.attempt, failures.length, failures[0].reason_code], [2, 1, "lease_expired"]);
    await own.refused("LEASE_LOST", "POST", `/api/queues/${pool}/items/${item.queue_item_id}/complete`, {
      lease_token: before.lease_token,
    });
    await own.complete(item);
  }
  const { depth, in_flight, throughput_today } = await own.status(pool);
  assert.deepEqual([depth, in_flight, throughput_today], [0, 0, 5]);
});
