import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  sql = connect(service.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
});

const ids = (items: readonly ResponseData[]) => items.map(({ queue_item_id }) => queue_item_id);
const ref = ({ queue_item_id, lease_token }: ResponseData) => ({ queue_item_id, lease_token });
const outcomes = (results: readonly ResponseData[]) => results.map(({ state, error_code }) => state || error_code);

/** Creates a pool with items; returns the pool's id and the items' ids. */
async function poolWith(count: number, fields: object = {}): Promise<{ pool: string; items: string[] }> {
  const pool = await own.pool(fields);
  const results = await own.routeAll(
    Array.from({ length: count }, (_, n) => ({ pool_id: pool, type: "task", payload: { n } })),
  );
  return { pool, items: results.map(({ decision }) => decision.queue_item_id) };
}

/** Reports and leases in one call. */
async function cycle(pool: string, fields: object, headers: Record<string, string> = {}): Promise<ResponseData> {
  return (await own.ok("POST", `/api/queues/${pool}/lease`, fields, headers)).data;
}

test("one call completes and fails items and leases the next ones, with one result per report, in order", async () => {
  const { pool, items } = await poolWith(5);
  const [a, b, c] = await own.lease(pool, { max_items: 3 });
  const { results, items: next } = await cycle(pool, {
    max_items: 2,
    failed: [
      { ...ref(b), reason_code: "smtp.down", reason: "no answer" },
      { ...ref(c), retryable: false },
    ],
    completed: [ref(a)],
  });
  assert.deepEqual(
    results.map(({ queue_item_id, state }: ResponseData) => [queue_item_id, state]),
    [
      [items[0], "completed"],
      [items[1], "pending"],
      [items[2], "dead_lettered"],
    ],
  );
  assert.ok(Date.parse(results[1].retry_at) > 0);
  assert.deepEqual(ids(next), items.slice(3, 5));
  const [failure] = (await own.item(pool, items[1]!)).failures;
  assert.deepEqual([failure.reason_code, failure.reason], ["smtp.down", "no answer"]);
  assert.equal((await own.deadLetters(pool))[0].queue_item_id, items[2]);
});

test("a report carries the cost and the score of the work", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const given = await own.route(pool, { requirements: { recipient_id: recipient } });
  const leased = await own.leaseOne(pool, { recipient_id: recipient });
  await cycle(pool, { completed: [{ ...ref(leased), cost: 2, score: 0.5 }], report_only: true });
  const { data } = await own.ok("GET", `/api/outcomes/${given.queue_item_id}`);
  assert.deepEqual([data.status, data.cost, data.score], ["success", 2, 0.5]);
});

test("a call without reports has no results, and leases one item by default", async () => {
  const { pool, items } = await poolWith(2);
  const data = await cycle(pool, { max_items: 0 });
  assert.deepEqual([ids(data.items), data.results], [[items[0]], []]);
});

test("an invalid report gets its own result and affects neither the other reports nor the lease", async () => {
  const { pool, items } = await poolWith(4);
  const [a, b, c] = await own.lease(pool, { max_items: 3 });
  const message = {
    pool_id: pool,
    completed: [
      { ...ref(a), lease_token: "aaaaaaaaaaaaaaaaaaaaaaaap1" },
      { queue_item_id: a.queue_item_id },
      { ...ref(b), cost: -1 },
      ref(a),
      ref(a),
    ],
    failed: [{ ...ref(b), reason_code: "Not A Code" }, { ...ref(c), queue_item_id: "\n" }, ref(c), ref(a)],
  };
  const [rest, connect] = await inEachProtocol(service, own, "WorkService/LeaseItems", message);
  const wanted = [
    "LEASE_LOST",
    "INVALID_ARGUMENT",
    "INVALID_ARGUMENT",
    "completed",
    "completed",
    "INVALID_ARGUMENT",
    "LEASE_LOST",
    "pending",
    "LEASE_LOST",
  ];
  assert.deepEqual(outcomes(rest!.data.results), wanted);
  assert.deepEqual(ids(rest!.data.items), [items[3]]);
  // The second call repeats the reports.
  assert.deepEqual(outcomes(connect!.data.results), wanted);
  assert.deepEqual(
    rest!.data.results[2].violations.map(({ field }: ResponseData) => field),
    ["cost"],
  );
  const many = Array.from({ length: 1001 }, () => ref(a));
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/lease`, { completed: many });
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/lease`, { failed: many });
});

test("a recipient with room for one item gets the next one in the call that completes the first", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const requirements = { recipient_id: recipient };
  await own.routeAll(Array.from({ length: 5 }, () => ({ pool_id: pool, type: "task", requirements })));
  // The items are assigned to the recipient before its capacity is limited.
  await own.ok("PATCH", `/api/recipients/${recipient}`, { capacity: 1 });
  const seen = new Set<string>();
  let current = await own.leaseOne(pool, { recipient_id: recipient });
  seen.add(current.queue_item_id);
  assert.deepEqual(await own.lease(pool, { recipient_id: recipient }), []);
  for (const report of ["completed", "failed", "completed", "completed"]) {
    const fields = { recipient_id: recipient, [report]: [ref(current)] };
    const { items, results } = await withDelayedReport(current, () => cycle(pool, fields));
    assert.deepEqual([results.length, items.length], [1, 1], report);
    current = items[0];
    seen.add(current.queue_item_id);
  }
  assert.equal(seen.size, 5);
});

/** Runs a call whose report waits for a lock, so that a lease that does not wait for the report would come first. */
async function withDelayedReport<T>(
  item: ResponseData,
  run: () => Promise<T>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<T> {
  const calls: Promise<T>[] = [];
  await sql.begin(async (tx) => {
    await tx`select from queue_items where id = ${item.queue_item_id} for update`;
    calls.push(run());
    const waiting = () => tx`select from pg_locks where not granted`;
    await until(waiting, ({ count }) => count > 0);
    await meanwhile();
  });
  return calls[0]!;
}

test("a call whose report takes long hands nothing out after a pause, and its items stay ready", async () => {
  const { pool, items } = await poolWith(3);
  const first = await own.leaseOne(pool);
  const call = await withDelayedReport(
    first,
    async () => cycle(pool, { completed: [ref(first)] }),
    async () => {
      await own.ok("POST", `/api/queues/${pool}/pause`);
      // Longer than an item may be held before it is handed out.
      await delay(150);
    },
  );
  assert.deepEqual([outcomes(call.results), call.items], [["completed"], []]);
  for (const id of items.filter((each) => each !== first.queue_item_id)) {
    assert.equal((await own.itemIn(pool, id, "ready")).attempt, 0);
  }
});

test("a slot of a concurrency limit that a report frees is taken in the same call", async () => {
  const concurrency = { limit: 1, key: "item.key" };
  const pool = await own.pool({ config: { admission: { concurrency } } });
  await own.routeAll(Array.from({ length: 3 }, () => ({ pool_id: pool, type: "task", key: "one" })));
  let current = await own.leaseOne(pool);
  assert.deepEqual(await own.lease(pool), []);
  for (let n = 0; n < 2; n++) {
    const { items } = await cycle(pool, { completed: [ref(current)] });
    assert.equal(items.length, 1);
    current = items[0];
  }
});

/** Starts a call that reports an item and waits for the next one; resolves once the report is committed. */
async function waitingCycle(pool: string, item: ResponseData, headers: Record<string, string> = {}) {
  const leave = new AbortController();
  const response = fetch(`${service.baseUrl}/api/queues/${pool}/lease`, {
    method: "POST",
    headers: { "x-api-key": own.key, "content-type": "application/json", ...headers },
    body: JSON.stringify({ completed: [ref(item)], wait_s: 20 }),
    signal: leave.signal,
  });
  const cutOff = response.then(
    () => false,
    () => true,
  );
  await own.itemIn(pool, item.queue_item_id, "completed");
  return { response, cutOff, leave: () => leave.abort() };
}

for (const [how, headers] of [
  ["", () => ({})],
  [", also under an idempotency key", () => ({ "idempotency-key": freshName() })],
] as const) {
  test(`reports are committed while the call waits for items${how}`, async () => {
    for (const config of [{}, { admission: { concurrency: { limit: 5, key: "item.key" } } }]) {
      const { pool } = await poolWith(1, { config });
      const { response } = await waitingCycle(pool, await own.leaseOne(pool), headers());
      const { queue_item_id } = await own.route(pool);
      const { data } = (await (await response).json()) as ResponseData;
      assert.deepEqual([ids(data.items), outcomes(data.results)], [[queue_item_id], ["completed"]]);
    }
  });

  test(`reports stay applied when the caller disconnects during the wait, and a repeat gets the same results${how}`, async () => {
    const { pool } = await poolWith(1);
    const item = await own.leaseOne(pool);
    const sent = headers();
    const call = await waitingCycle(pool, item, sent);
    call.leave();
    assert.equal(await call.cutOff, true);
    const { queue_item_id } = await own.route(pool);
    const data = await until(
      () => cycle(pool, { completed: [ref(item)], wait_s: 20 }, sent),
      ({ items }) => items.length > 0,
    );
    assert.deepEqual([ids(data.items), outcomes(data.results)], [[queue_item_id], ["completed"]]);
    assert.equal((await own.status(pool)).throughput_today, 1);
  });
}

test("a repeat under the same idempotency key gets the same results and items, and leases and reports nothing", async () => {
  const { pool, items } = await poolWith(5);
  const [a, b] = await own.lease(pool, { max_items: 2 });
  const fields = { completed: [ref(a), { ...ref(b), lease_token: "?" }], failed: [ref(b)], max_items: 2 };
  const headers = { "idempotency-key": freshName() };
  const first = await cycle(pool, fields, headers);
  assert.deepEqual(ids(first.items), items.slice(2, 4));
  assert.deepEqual(outcomes(first.results), ["completed", "LEASE_LOST", "pending"]);
  for (let n = 0; n < 2; n++) assert.deepEqual(await cycle(pool, fields, headers), first);
  const { in_flight, throughput_today, failed_today } = await own.status(pool);
  assert.deepEqual([in_flight, throughput_today, failed_today], [2, 1, 1]);
  // Another request with that key applies nothing.
  const other = { ...fields, completed: first.items.map(ref) };
  const refusal = await own.rest.call("POST", `/api/queues/${pool}/lease`, other, headers);
  assert.equal(refusal.body.errorCode, "IDEMPOTENCY_KEY_REUSED");
  assert.equal((await own.item(pool, items[2]!)).state, "leased");
});

test("a call that only reports leases nothing and does not wait", async () => {
  const { pool, items } = await poolWith(4);
  const [a, b, c] = await own.lease(pool, { max_items: 3 });
  const last = { report_only: true, wait_s: 20, max_items: 10 };
  const unkeyed = await cycle(pool, { ...last, completed: [ref(a)], failed: [ref(b)] });
  assert.deepEqual([unkeyed.items, outcomes(unkeyed.results)], [[], ["completed", "pending"]]);
  const headers = { "idempotency-key": freshName() };
  const keyed = await cycle(pool, { ...last, completed: [ref(c)] }, headers);
  assert.deepEqual([keyed.items, outcomes(keyed.results)], [[], ["completed"]]);
  assert.deepEqual(await cycle(pool, { ...last, completed: [ref(c)] }, headers), keyed);
  assert.equal((await own.item(pool, items[3]!)).state, "ready");
});

test("items that were leased beside reports which cannot be committed return to the queue", async () => {
  const { pool, items } = await poolWith(2);
  const item = await own.leaseOne(pool);
  await sql.unsafe(`
    create function refuse_write() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_write before update or delete on queue_items for each row
      when (old.id = '${item.queue_item_id}') execute function refuse_write()`);
  try {
    const { status } = await own.rest.call("POST", `/api/queues/${pool}/lease`, { completed: [ref(item)] });
    assert.equal(status, 500);
  } finally {
    await sql.unsafe("drop trigger refuse_write on queue_items; drop function refuse_write()");
  }
  await own.itemIn(pool, items[1]!, "ready");
  const { items: next, results } = await cycle(pool, { completed: [ref(item)], wait_s: 5 });
  assert.deepEqual([ids(next), outcomes(results)], [[items[1]], ["completed"]]);
});
