import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const ids = (items: readonly ResponseData[]) => items.map(({ queue_item_id }) => queue_item_id);
const ref = ({ queue_item_id, lease_token }: ResponseData) => ({ queue_item_id, lease_token });
const quick = { retry: { initial_ms: 1, max_ms: 1, jitter: 0 } };

async function poolWith(count: number, fields: object = {}): Promise<{ pool: string; items: string[] }> {
  const pool = await own.pool(fields);
  const results = await own.routeAll(
    Array.from({ length: count }, (_, n) => ({ pool_id: pool, type: "task", payload: { n } })),
  );
  return { pool, items: results.map(({ decision }) => decision.queue_item_id) };
}

test("a worker gets the requested number of items, oldest first, with their content, and each is leased once", async () => {
  const { pool, items } = await poolWith(6);
  const [first, ...none] = await own.lease(pool);
  assert.deepEqual([first.queue_item_id, first.payload, first.attempt, none], [items[0], { n: 0 }, 1, []]);
  const leased = await inEachProtocol(service, own, "WorkService/LeaseItems", { pool_id: pool, max_items: 2 });
  assert.deepEqual(
    leased.map(({ data }) => ids(data.items)),
    [items.slice(1, 3), items.slice(3, 5)],
  );
  assert.deepEqual(ids(await own.lease(pool, { max_items: 1000 })), [items[5]]);
  assert.deepEqual(await own.lease(pool, { max_items: 1000 }), []);
  const { depth, in_flight } = await own.status(pool);
  assert.deepEqual([depth, in_flight], [0, 6]);
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/lease`, { max_items: 1001 });
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/lease`, { wait_s: 21 });
  await own.refused("NOT_FOUND", "POST", `/api/queues/${pool}/lease`, { recipient_id: "nobody" });
});

test("an item's content is returned unchanged, whatever characters it contains", async () => {
  const pool = await own.pool();
  const odd = 'one\ntwo\r\n"three", \\N {4,5} \t\u2028 ü 🙂';
  const nested = { [odd]: [odd, { [odd]: null }], empty: {}, zero: 0, exact: 0.1 };
  const sent = [
    { type: odd, key: odd, attributes: nested, payload: nested },
    { type: "\n", key: "\n", attributes: {}, payload: { text: "" } },
    { type: "NULL", key: "", attributes: { n: 1 }, payload: {} },
  ];
  await own.routeAll(sent.map((item) => ({ pool_id: pool, ...item })));
  const leased = await own.lease(pool, { max_items: 3 });
  assert.deepEqual(
    leased.map(({ type, key, attributes, payload }) => ({ type, key, attributes, payload })),
    sent,
  );
});

test("a completed item stays completed", async () => {
  const { pool, items } = await poolWith(2);
  const [one, two] = await own.lease(pool, { max_items: 2 });
  assert.deepEqual(await own.complete(one), {
    queue_item_id: items[0],
    state: "completed",
    error_code: "",
    error_message: "",
    violations: [],
  });
  const message = { pool_id: pool, ...ref(two), cost: 2, score: 0.5 };
  const [rest, connect] = await inEachProtocol(service, own, "WorkService/CompleteItem", message);
  // The second call repeats the first.
  assert.deepEqual([rest!.data.state, connect!.data.state], ["completed", "completed"]);
  const { state, ended_at } = await own.item(pool, items[0]!);
  assert.equal(state, "completed");
  assert.ok(Date.parse(ended_at) > 0);
  await own.refused("LEASE_LOST", "POST", `/api/queues/${pool}/items/${items[0]}/fail`, {
    lease_token: one.lease_token,
  });
});

test("an item's own retries replace those of its pool, in single and batch calls of every protocol", async () => {
  const pool = await own.pool({ config: quick });
  const message = { pool_id: pool, type: "task", retry: { max_attempts: 1 } };
  const single = await inEachProtocol(service, own, "RoutingService/Route", message);
  const results = await own.routeAll([
    { pool_id: pool, type: "slow", retry: { initial_ms: 3_600_000, max_ms: 3_600_000, jitter: 0 } },
    { pool_id: pool, type: "usual" },
    { pool_id: pool, type: "done", retry: { max_attempts: 7 } },
  ]);
  const [slow, usual, done] = results.map(({ decision }) => decision.queue_item_id);
  const once = single.map(({ data }) => data.queue_item_id);
  const leased = new Map(
    (await own.leaseMany(pool, once.length + 3)).map((item): [string, ResponseData] => [item.queue_item_id, item]),
  );
  for (const id of once) {
    assert.deepEqual([leased.get(id).max_attempts, (await own.item(pool, id)).retry], [1, { max_attempts: 1 }]);
    assert.equal((await own.fail(leased.get(id))).state, "dead_lettered");
    assert.deepEqual((await own.item(pool, id)).retry, { max_attempts: 1 });
  }
  assert.deepEqual([leased.get(usual).max_attempts, (await own.item(pool, usual)).retry], [5, undefined]);
  const delays = [];
  for (const id of [slow, usual]) {
    const { state, retry_at } = await own.fail(leased.get(id));
    const { failures } = await own.item(pool, id);
    delays.push([state, Date.parse(retry_at) - Date.parse(failures[0].failed_at)]);
  }
  assert.deepEqual(delays, [
    ["pending", 3_600_000],
    ["pending", 1],
  ]);
  assert.equal((await own.complete(leased.get(done))).state, "completed");
  assert.deepEqual((await own.item(pool, done)).retry, { max_attempts: 7 });
});

test("an item's own retries also apply to an expired lease, and to an item of a group", async () => {
  const admission = { concurrency: { key: "item.key", limit: 5 } };
  const grouped = await own.pool({ config: { ...quick, admission } });
  const plain = await own.pool({ config: quick });
  for (const pool of [grouped, plain]) {
    const item = { key: "k", retry: { max_attempts: 1 } };
    const [failed, expired] = [await own.route(pool, item), await own.route(pool, item)];
    const leased = await own.leaseMany(pool, 2, { lease_s: 1 });
    const first = leased.find(({ queue_item_id }) => queue_item_id === failed.queue_item_id);
    assert.equal((await own.fail(first)).state, "dead_lettered");
    await own.itemIn(pool, expired.queue_item_id, "dead_lettered");
  }
});

test("an item's own retries stay within the bounds of its pool, also of bounds that it gets later", async () => {
  const pool = await own.pool({ config: { retry: { item_max_attempts: 6, item_max_ms: 120_000 } } });
  const refusals = [
    [{ max_attempts: 7 }, "retry.max_attempts"],
    [{ max_ms: 120_001 }, "retry.max_ms"],
    [{ initial_ms: 60_001 }, "retry.initial_ms"],
    [{ initial_ms: 200, max_ms: 100 }, "retry.initial_ms"],
    [{ max_attempts: 101 }, "retry.max_attempts"],
  ] as const;
  for (const [retry, field] of refusals) {
    const item = { pool_id: pool, type: "task", retry };
    const { body } = await own.refused("INVALID_ARGUMENT", "POST", "/api/route", item);
    assert.deepEqual(
      body.violations.map((each: ResponseData) => each.field),
      [field],
    );
    const [result] = await own.routeAll([item]);
    assert.deepEqual([result.error_code, result.violations[0].field], ["INVALID_ARGUMENT", field]);
  }
  const { queue_item_id: id } = await own.route(pool, { retry: { max_attempts: 6, initial_ms: 0, max_ms: 120_000 } });
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { retry: { item_max_attempts: 1 } } });
  const leased = await own.leaseOne(pool);
  assert.deepEqual([leased.queue_item_id, leased.max_attempts], [id, 1]);
  assert.equal((await own.fail(leased)).state, "dead_lettered");
});

test("the retry delay grows with each failed attempt, and the last failure creates a dead letter", async () => {
  const retry = { max_attempts: 3, initial_ms: 150, factor: 2, max_ms: 60_000, jitter: 0 };
  const { pool, items } = await poolWith(1, { config: { retry } });
  const recipient = await own.recipient(pool);
  const waits = [150, 300];
  let notBeforeMs = 0;
  for (let attempt = 1; attempt <= 3; attempt++) {
    const leased = await own.leaseOne(pool);
    assert.deepEqual([leased.attempt, leased.max_attempts], [attempt, 3]);
    const { leased_at } = await own.item(pool, items[0]!);
    assert.ok(Date.parse(leased_at) >= notBeforeMs, `${notBeforeMs - Date.parse(leased_at)} ms too soon`);
    const result = await own.fail(leased, { reason_code: "smtp.down", reason: `no. ${attempt}` });
    const { failures } = await own.item(pool, items[0]!);
    const { failed_at, reason_code, reason } = failures.at(-1);
    assert.deepEqual([failures.length, reason_code, reason], [attempt, "smtp.down", `no. ${attempt}`]);
    if (attempt === 3) {
      assert.deepEqual([result.state, result.retry_at], ["dead_lettered", undefined]);
      break;
    }
    assert.equal(result.state, "pending");
    notBeforeMs = Date.parse(result.retry_at);
    assert.equal(notBeforeMs - Date.parse(failed_at), waits[attempt - 1]);
  }
  const [letter, ...others] = await own.deadLetters(pool);
  assert.deepEqual(
    [letter.queue_item_id, letter.reason_code, letter.phase, others],
    [items[0], "smtp.down", "work", []],
  );
  assert.deepEqual(
    letter.attempts.map(({ attempt }: ResponseData) => attempt),
    [1, 2, 3],
  );
  assert.ok(letter.attempts.every(({ recipient_id }: ResponseData) => ["", recipient].includes(recipient_id)));
  assert.deepEqual(await own.lease(pool), []);
});

test("a permanent failure creates a dead letter immediately", async () => {
  const { pool, items } = await poolWith(1);
  const [leased] = await own.lease(pool);
  assert.equal((await own.fail(leased, { retryable: false, reason_code: "bad_address" })).state, "dead_lettered");
  const { data: events } = await own.ok("GET", `/api/events?types=queue.item.dead_lettered&subject=${items[0]}`);
  assert.deepEqual(
    events.map(({ data }: ResponseData) => [data.pool_id, data.reason_code, data.phase, data.attempt]),
    [[pool, "bad_address", "work", 1]],
  );
  assert.equal((await own.deadLetters(pool))[0].queue_item_id, items[0]);
});

test("batch calls return each item's own result, in order, and apply the valid ones", async () => {
  const { pool, items } = await poolWith(5, { config: quick });
  const [a, b, c, d, e] = await own.lease(pool, { max_items: 5 });
  const stale = { queue_item_id: c.queue_item_id, lease_token: "aaaaaaaaaaaaaaaaaaaaaaaap1" };
  const { data: done } = await own.ok("POST", `/api/queues/${pool}/items:complete`, {
    items: [
      ref(a),
      stale,
      { ...ref(b), queue_item_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
      ref(a),
      ref(b),
      { ...ref(c), lease_token: "?" },
    ],
  });
  assert.deepEqual(
    done.results.map(({ state, error_code }: ResponseData) => state || error_code),
    ["completed", "LEASE_LOST", "LEASE_LOST", "completed", "completed", "LEASE_LOST"],
  );
  assert.deepEqual(done.results[4].queue_item_id, items[1]);
  const { data: failed } = await own.ok("POST", `/api/queues/${pool}/items:fail`, {
    items: [ref(a), ref(c), ref(d)],
    reason_code: "later",
  });
  assert.deepEqual(
    failed.results.map(({ state, error_code }: ResponseData) => state || error_code),
    ["LEASE_LOST", "pending", "pending"],
  );
  const { data: given } = await own.ok("POST", `/api/queues/${pool}/items:fail`, { items: [ref(e)], retryable: false });
  assert.equal(given.results[0].state, "dead_lettered");
  assert.equal((await own.item(pool, items[2]!)).failures[0].reason_code, "later");
});

test("of concurrent completions of the same item exactly one takes effect and is counted", async () => {
  const { pool } = await poolWith(6);
  const recipient = await own.recipient(pool);
  const given = await own.route(pool, { requirements: { recipient_id: recipient } });
  // Items are assigned in the background, so an item that is being assigned is leased slightly later.
  const leased = await own.leaseMany(pool, 7);
  const items = [...leased, ...leased].map(ref);
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      own.ok("POST", `/api/queues/${pool}/items:complete`, { items: n % 2 === 0 ? items : items.toReversed() }),
    ),
  );
  const results = responses.flatMap(({ data }) => data.results);
  assert.ok(results.every(({ state }: ResponseData) => state === "completed"));
  assert.deepEqual([...new Set(ids(results))].sort(), ids(leased).sort());
  const { depth, in_flight, throughput_today } = await own.status(pool);
  assert.deepEqual([depth, in_flight, throughput_today], [0, 0, 7]);
  const { data } = await own.ok("GET", `/api/outcomes/${given.queue_item_id}`);
  assert.deepEqual([data.status, data.recipient_id], ["success", recipient]);
});

test("a retried and completed dead letter is no longer a dead letter", async () => {
  const { pool, items } = await poolWith(1);
  await own.fail(await own.leaseOne(pool), { retryable: false });
  assert.equal((await own.deadLetters(pool)).length, 1);
  await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: items });
  assert.equal((await own.complete(await own.leaseOne(pool))).state, "completed");
  const { data } = await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: items });
  assert.deepEqual(data.skipped, [{ queue_item_id: items[0], reason: "not_found" }]);
});

test("the lease holder completes an item, even when a worker with an expired lease calls concurrently", async () => {
  const { pool } = await poolWith(1, { config: quick });
  const old = await own.leaseOne(pool);
  await own.fail(old);
  const current = await own.leaseOne(pool);
  assert.notEqual(current.lease_token, old.lease_token);
  const { data } = await own.ok("POST", `/api/queues/${pool}/items:complete`, { items: [ref(old), ref(current)] });
  assert.deepEqual(
    data.results.map(({ state, error_code }: ResponseData) => state || error_code),
    ["LEASE_LOST", "completed"],
  );
});

test("each item of a lease has its own token, which no other item accepts", async () => {
  const pool = await own.pool();
  for (let n = 0; n < 4; n++) await own.route(pool);
  const leased = await own.lease(pool, { max_items: 4 });
  const [a, b, c, d] = leased;
  assert.equal(new Set(leased.map(({ lease_token }: ResponseData) => lease_token)).size, 4);
  const items = [{ ...ref(a), lease_token: b.lease_token }];
  const path = `/api/queues/${pool}/items`;
  for (const action of ["heartbeat", "progress", "complete", "fail", "release"]) {
    await own.refused("LEASE_LOST", "POST", `${path}/${a.queue_item_id}/${action}`, { lease_token: b.lease_token });
  }
  for (const action of ["items:complete", "items:fail"]) {
    const { results } = (await own.ok("POST", `/api/queues/${pool}/${action}`, { items })).data;
    assert.equal(results[0].error_code, "LEASE_LOST", action);
  }
  for (const reports of [{ completed: items }, { failed: items }, { released: items }]) {
    const { results } = (await own.ok("POST", `/api/queues/${pool}/lease`, { ...reports, report_only: true })).data;
    assert.equal(results[0].error_code, "LEASE_LOST", Object.keys(reports)[0]);
  }
  const done = (await own.ok("POST", `/api/queues/${pool}/items:complete`, { items: [a, b, c, d].map(ref) })).data;
  assert.deepEqual(
    done.results.map(({ state }: ResponseData) => state),
    ["completed", "completed", "completed", "completed"],
  );
});

test("a worker that gives an item back uses up no attempt, and holds no lease afterwards", async () => {
  const item_events = true;
  const pool = await own.pool({ config: { retry: { max_attempts: 1 }, item_events } });
  await own.route(pool);
  for (const give of ["released", "release"] as const) {
    const leased = await own.leaseOne(pool);
    assert.equal(leased.attempt, 1);
    if (give === "released") {
      const request = { released: [ref(leased)], report_only: true };
      const { results } = (await own.ok("POST", `/api/queues/${pool}/lease`, request)).data;
      assert.deepEqual([results[0].state, results[0].error_code], ["ready", ""]);
    } else {
      const path = `/api/queues/${pool}/items/${leased.queue_item_id}/release`;
      const { data } = await own.ok("POST", path, { lease_token: leased.lease_token });
      assert.equal(data.state, "ready");
      await own.refused("LEASE_LOST", "POST", path, { lease_token: leased.lease_token });
    }
    const path = `/api/queues/${pool}/items/${leased.queue_item_id}/complete`;
    await own.refused("LEASE_LOST", "POST", path, { lease_token: leased.lease_token });
    const { state, attempt, failures } = await own.item(pool, leased.queue_item_id);
    assert.deepEqual([state, attempt, failures], ["ready", 0, []]);
    const events = await own.ok("GET", `/api/events?subject=${leased.queue_item_id}&types=queue.item.released`);
    assert.ok(events.data.length > 0);
  }
  const first = await own.leaseOne(pool);
  const body = { released: [ref(first)], max_items: 1, wait_s: 5 };
  const { items } = (await own.ok("POST", `/api/queues/${pool}/lease`, body)).data;
  assert.deepEqual(
    [items[0].queue_item_id, items[0].attempt],
    [first.queue_item_id, 1],
    "leased again in the same call",
  );
});

test("an old token is rejected once another worker has the item", async () => {
  const { pool, items } = await poolWith(1, { config: quick });
  const old = await own.leaseOne(pool);
  await own.fail(old);
  const current = await own.leaseOne(pool);
  for (const verb of ["heartbeat", "complete"]) {
    const path = `/api/queues/${pool}/items/${items[0]}/${verb}`;
    const refusal = await own.refused("LEASE_LOST", "POST", path, { lease_token: old.lease_token });
    assert.deepEqual([refusal.status, refusal.body.retryable], [409, false]);
  }
  assert.equal((await own.item(pool, items[0]!)).state, "leased");
  await own.complete(current);
});

test("a crashed worker's items are released when their lease expires, and not before", async () => {
  const { pool, items } = await poolWith(3);
  const recipient = await own.recipient(pool);
  // A lease call skips an item that the assigner has locked.
  const lost = await own.leaseMany(pool, 3, { lease_s: 2 });
  const back = await own.leaseMany(pool, 3);
  for (const { queue_item_id, attempt } of back) {
    const before = lost.find((each) => each.queue_item_id === queue_item_id);
    const { leased_at, failures } = await own.item(pool, queue_item_id);
    assert.equal(attempt, 2);
    assert.ok(Date.parse(leased_at) >= Date.parse(before.lease_expires_at), `${leased_at} is too soon`);
    assert.deepEqual([failures.length, failures[0].reason_code], [1, "lease_expired"]);
    assert.ok([recipient, ""].includes(failures[0].recipient_id));
    await own.refused("LEASE_LOST", "POST", `/api/queues/${pool}/items/${queue_item_id}/complete`, {
      lease_token: before.lease_token,
    });
  }
  assert.deepEqual(ids(back).sort(), items.toSorted());
});

test("an item whose workers all crash becomes a dead letter with reason lease_expired", async () => {
  const { pool, items } = await poolWith(1, { config: { retry: { max_attempts: 1 } } });
  await own.lease(pool, { lease_s: 1 });
  await own.itemIn(pool, items[0]!, "dead_lettered");
  const [letter] = await own.deadLetters(pool);
  assert.deepEqual([letter.reason_code, letter.phase], ["lease_expired", "lease"]);
});

test("a heartbeat extends a lease by the given time, and never shortens it", async () => {
  const { pool, items } = await poolWith(1, { config: { lease: { duration_s: 100, heartbeat_s: 10 } } });
  const [leased] = await own.lease(pool, { lease_s: 50 });
  const path = `/api/queues/${pool}/items/${items[0]}/heartbeat`;
  const beat = async (fields: object) =>
    (await own.ok("POST", path, { lease_token: leased.lease_token, ...fields })).data.lease_expires_at;
  const least = Date.parse(leased.lease_expires_at);
  const first = await beat({});
  assert.ok(Date.parse(first) >= least + 49_000);
  assert.equal(await beat({ lease_s: 1 }), first);
  assert.ok(Date.parse(await beat({ lease_s: 3600 })) > least + 3_000_000);
  assert.equal((await own.item(pool, items[0]!)).lease_expires_at, await beat({ lease_s: 1 }));
  await own.complete(leased);
  await own.refused("LEASE_LOST", "POST", path, { lease_token: leased.lease_token });
});

test("a cancelled item is never leased, and its current worker is notified", async () => {
  const { pool, items } = await poolWith(2);
  const [leased] = await own.lease(pool);
  for (const id of items) {
    const { data } = await own.ok("POST", `/api/queues/${pool}/items/${id}/cancel`, { reason: "not needed" });
    assert.deepEqual([data.id, data.state], [id, "cancelled"]);
    await own.refused("FAILED_PRECONDITION", "POST", `/api/queues/${pool}/items/${id}/cancel`, {});
  }
  assert.deepEqual(await own.lease(pool), []);
  await own.refused("LEASE_LOST", "POST", `/api/queues/${pool}/items/${leased.queue_item_id}/complete`, {
    lease_token: leased.lease_token,
  });
  const { depth, in_flight } = await own.status(pool);
  assert.deepEqual([depth, in_flight], [0, 0]);
});

test("a completion repeated with its token gets the first response, and is counted once", async () => {
  for (const config of [{}, { item_events: true }, { admission: { singleton: { key: "item.key" } } }]) {
    const pool = await own.pool({ config });
    await own.routeAll(["a", "b"].map((key) => ({ pool_id: pool, type: "t", key })));
    const [first, second] = [await own.leaseOne(pool), await own.leaseOne(pool)];
    for (let n = 0; n < 3; n++) assert.equal((await own.complete(first)).state, "completed");
    const items = [first, second].map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
    for (let n = 0; n < 2; n++) {
      const { data } = await own.ok("POST", `/api/queues/${pool}/items:complete`, { items });
      assert.deepEqual(
        data.results.map(({ state, error_code }: ResponseData) => [state, error_code]),
        Array(2).fill(["completed", ""]),
      );
    }
    assert.equal((await own.status(pool)).throughput_today, 2);
    // It was completed and not failed, and only by its lease holder.
    const path = `/api/queues/${pool}/items/${first.queue_item_id}`;
    await own.refused("LEASE_LOST", "POST", `${path}/fail`, { lease_token: first.lease_token });
    await own.refused("LEASE_LOST", "POST", `${path}/complete`, { lease_token: second.lease_token });
  }
});

test("a failure repeated with its token gets the first response, even when the item is leased again", async () => {
  const pool = await own.pool({ config: { retry: { initial_ms: 1, max_ms: 1, max_attempts: 2 } } });
  await own.route(pool);
  const first = await own.leaseOne(pool);
  const failed = await own.fail(first);
  assert.equal(failed.state, "pending");
  assert.deepEqual(await own.fail(first), failed);
  const second = await own.leaseOne(pool);
  assert.deepEqual(await own.fail(first), failed);
  assert.equal((await own.item(pool, first.queue_item_id)).state, "leased");
  await own.refused("LEASE_LOST", "POST", `/api/queues/${pool}/items/${first.queue_item_id}/complete`, {
    lease_token: first.lease_token,
  });
  for (let n = 0; n < 2; n++) assert.equal((await own.fail(second)).state, "dead_lettered");
  const items = [first, second].map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
  const { data } = await own.ok("POST", `/api/queues/${pool}/items:fail`, { items });
  assert.deepEqual(
    data.results.map(({ state }: ResponseData) => state),
    ["pending", "dead_lettered"],
  );
  assert.equal((await own.status(pool)).failed_today, 2);
});
