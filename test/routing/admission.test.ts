import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { checkSpans, checkWindows, type Span } from "./lease-checks.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  sql = connect(service.databaseUrl, 2);
});
after(() => sql.end({ timeout: 1 }));

const groupsOf = (pool: string) => sql`select * from admission_groups where pool_id = ${pool} order by kind, group_id`;

async function preview(pool: string, item: object): Promise<ResponseData> {
  return (await own.ok("POST", `/api/queues/${pool}:preview-admission`, { item: { type: "t", ...item } })).data;
}

async function explanation(pool: string, id: string): Promise<ResponseData> {
  return (await own.ok("GET", `/api/queues/${pool}/items/${id}/admission-explanation`)).data;
}

test("a thousand previews change no group, and the next item is decided as they predicted", async () => {
  const cases: [object, object[], string][] = [
    [{ singleton: { key: "item.key" } }, [{ key: "k" }], "deduplicated"],
    [{ singleton: { key: "item.key", mode: "replace_pending" } }, [{ key: "k" }], "admitted"],
    [{ debounce: { key: "item.key", period_s: 600, max_delay_s: 600 } }, [{ key: "k" }], "debounced"],
    [{ throttle: { key: "item.key", limit: 1, period_s: 3600 } }, [{ key: "k" }], "admitted"],
    [{ throttle: { key: "item.key", limit: 1, period_s: 3600, on_limit: "reject" } }, [{ key: "k" }], "rejected"],
    [{ concurrency: { key: "item.key", limit: 2 } }, [{ key: "k" }], "admitted"],
    [{ concurrency: { key: "item.key", limit: 1 } }, [{ key: "k" }], "admitted"],
    [{ throttle: { key: "item.key", limit: 1, period_s: 3600 } }, [], "admitted"],
  ];
  for (const [admission, items, expected] of cases) {
    const pool = await own.pool({ config: { admission } });
    for (const item of items) await own.route(pool, item);
    const before = await groupsOf(pool);
    const statuses = new Set<string>();
    let told: ResponseData;
    for (let round = 0; round < 5; round++) {
      const previews = await Promise.all(Array.from({ length: 25 }, () => preview(pool, { key: "k" })));
      for (const each of previews) statuses.add(each.status);
      told = previews[0];
    }
    assert.deepEqual([...statuses], [expected]);
    assert.deepEqual(await groupsOf(pool), before);
    const decision = await own.route(pool, { key: "k" });
    assert.equal(decision.outcome, expected === "admitted" ? "queued" : expected, JSON.stringify(admission));
    assert.equal(decision.existing_item_id, told.existing_queue_item_id);
    if (told.not_before !== undefined && expected !== "debounced") {
      assert.ok(Math.abs(Date.parse(told.not_before) - Date.parse(decision.due_at ?? told.not_before)) <= 1);
    }
  }
});

test("a preview is the same over REST and Connect, and lists each constraint's effect in order", async () => {
  const pool = await own.pool({
    config: {
      admission: {
        concurrency: { key: "item.key", limit: 5 },
        throttle: { key: "item.key", limit: 10, period_s: 60 },
        singleton: { key: "item.attributes.order" },
      },
    },
  });
  const message = { pool_id: pool, item: { type: "t", key: "k", attributes: { order: 1 } } };
  for (const { protocol, data } of await inEachProtocol(service, own, "AdmissionService/PreviewAdmission", message)) {
    assert.equal(data.status, "admitted", protocol);
    assert.deepEqual(
      data.verdicts.map(({ constraint_kind, verdict }: ResponseData) => [constraint_kind, verdict]),
      [
        ["singleton", "admit"],
        ["throttle", "admit"],
        ["concurrency", "admit"],
      ],
    );
  }
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}:preview-admission`, { item: { type: "t" } });
  assert.equal((await groupsOf(pool)).length, 0);
});

test("debounce keeps the last of several items in quick succession, and each of the others names it", async () => {
  const pool = await own.pool({
    config: { admission: { debounce: { key: "item.key", period_s: 600, max_delay_s: 600 } } },
  });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await own.route(pool, { key: "doc", payload: { n } })).queue_item_id);
  const batch = await own.routeAll([5, 6, 7].map((n) => ({ pool_id: pool, type: "t", key: "doc", payload: { n } })));
  ids.push(...batch.map(({ decision }) => decision.queue_item_id));
  await own.route(pool, { key: "other" });
  const last = ids.at(-1)!;
  for (const id of ids.slice(0, -1)) {
    const { state, survivor_id } = await own.item(pool, id);
    assert.deepEqual([state, survivor_id], ["superseded", last]);
    assert.equal((await explanation(pool, id)).survivor_id, last);
  }
  const { data: listed } = await own.ok("GET", `/api/queues/${pool}/items?state=superseded`);
  assert.deepEqual([...new Set(listed.map(({ survivor_id }: ResponseData) => survivor_id))], [last]);
  const waiting = await explanation(pool, last);
  assert.deepEqual([waiting.status, waiting.constraint_kind], ["held", "debounce"]);
  assert.equal((await own.status(pool)).depth, 2);
  assert.deepEqual(await own.lease(pool), []);
  const group = `/api/queues/${pool}/admission-groups/debounce/${waiting.group_id}`;
  await own.ok("POST", `${group}:clear`, { reason: "now" });
  const { queue_item_id, payload } = await own.leaseOne(pool);
  assert.deepEqual([queue_item_id, payload], [last, { n: 7 }]);
  assert.deepEqual(await own.lease(pool), []);
});

test("a debounced item proceeds by itself when its period is over, and not before", async () => {
  const pool = await own.pool({ config: { admission: { debounce: { key: "item.key", period_s: 1 } } } });
  const { queue_item_id: id, decided_at, due_at } = await own.route(pool);
  assert.equal(Date.parse(due_at), Date.parse(decided_at) + 1000);
  assert.equal((await own.leaseOne(pool)).queue_item_id, id);
  assert.ok(Date.parse((await own.item(pool, id)).leased_at) >= Date.parse(due_at));
});

test("later items delay an item by at most max_delay_s", async () => {
  const pool = await own.pool({
    config: { admission: { debounce: { key: "item.key", period_s: 2, max_delay_s: 3 } } },
  });
  const routeItem = async () => {
    const { queue_item_id: id, decided_at, due_at } = await own.route(pool, { key: "doc" });
    return { id, decidedMs: Date.parse(decided_at), dueMs: Date.parse(due_at) };
  };
  let last = await routeItem();
  let windowStartMs = last.decidedMs;
  while (last.dueMs === last.decidedMs + 2000) {
    const next = await routeItem();
    // A window also ends when a slow machine sends no item for a whole period; this item starts another one.
    if (next.decidedMs >= last.dueMs) windowStartMs = next.decidedMs;
    assert.ok(next.dueMs <= windowStartMs + 3000, "delayed too long");
    last = next;
  }
  assert.equal(last.dueMs, windowStartMs + 3000);
  let working: ResponseData;
  do {
    working = await own.leaseOne(pool);
    await own.complete(working);
  } while (working.queue_item_id !== last.id);
});

test("a preview reports that an item would be admitted and held while its group has no capacity", async () => {
  for (const [kind, admission] of Object.entries({
    throttle: { throttle: { key: "item.key", limit: 1, period_s: 3600 } },
    concurrency: { concurrency: { key: "item.key", limit: 1 } },
  })) {
    const pool = await own.pool({ config: { admission } });
    await own.route(pool, { key: "k" });
    assert.equal((await preview(pool, { key: "k" })).status, "admitted");
    await own.leaseOne(pool);
    const { status, constraint_kind, not_before, verdicts } = await preview(pool, { key: "k" });
    assert.deepEqual([status, constraint_kind, verdicts[0].verdict], ["held", kind, "hold"]);
    assert.equal(not_before !== undefined, kind === "throttle");
    assert.equal((await preview(pool, { key: "other" })).status, "admitted");
    const decision = await own.route(pool, { key: "k" });
    assert.equal(decision.outcome, "queued");
    const { constraint_kind: held_by, ahead } = await explanation(pool, decision.queue_item_id);
    assert.deepEqual([held_by, ahead], [kind, 0]);
    assert.deepEqual(await own.lease(pool), []);
  }
});

test("a throttled item waits for a token, and proceeds then", async () => {
  const pool = await own.pool({ config: { admission: { throttle: { key: "item.key", limit: 4, period_s: 1 } } } });
  const results = await own.routeAll(Array.from({ length: 6 }, () => ({ pool_id: pool, type: "t", key: "k" })));
  const ids = results.map(({ decision }) => decision.queue_item_id);
  assert.deepEqual(new Set(results.map(({ decision }) => decision.outcome)), new Set(["queued"]));
  const times: number[] = [];
  for (const id of ids) {
    assert.equal((await own.leaseOne(pool)).queue_item_id, id);
    times.push(Date.parse((await own.item(pool, id)).leased_at));
  }
  checkWindows(times, 1, 250);
});

test("with concurrent callers on two nodes, no period admits more items than a throttle allows", async (t) => {
  const other = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  t.after(() => other.stop());
  const throttle = { key: "item.key", limit: 40, period_s: 2, burst: 5, on_limit: "reject" };
  const pool = await own.pool({ config: { admission: { throttle } } });
  const callers = [own.rest, restClient(other.baseUrl, own.key)];
  const passed = new Map<string, Span[]>();
  await Promise.all(
    Array.from({ length: 24 }, async (_, caller) => {
      for (let round = 0; round < 4; round++) {
        const items = Array.from({ length: 10 }, (_item, n) => ({ pool_id: pool, type: "t", key: `k${n % 3}` }));
        const fromMs = Date.now();
        const response = await callers[caller % 2]!.call("POST", "/api/route:batch", { items });
        const span = { fromMs, untilMs: Date.now() };
        assert.equal(response.status, 200, response.text);
        for (const { decision } of response.body.data.results) {
          if (decision.outcome === "rejected") continue;
          passed.set(decision.key, [...(passed.get(decision.key) ?? []), span]);
        }
      }
    }),
  );
  assert.deepEqual([...passed.keys()].toSorted(), ["k0", "k1", "k2"]);
  for (const spans of passed.values()) checkSpans(spans, 45, 2000);
});

test("a call repeated with its idempotency key takes no second slot, alone or in a batch", async () => {
  const pool = await own.pool({
    config: {
      admission: {
        singleton: { key: "string(item.attributes.n)" },
        throttle: { key: "item.type", limit: 100, period_s: 3600, burst: 100, on_limit: "reject" },
      },
    },
  });
  const send = (key: string) =>
    own.rest.call(
      "POST",
      "/api/route",
      { pool_id: pool, type: "t", attributes: { n: key } },
      { "idempotency-key": key },
    );
  await send("first");
  const before = (await groupsOf(pool)).at(-1);
  await Promise.all(["first", "first", "second", "first", "third"].map(send));
  const groups = await groupsOf(pool);
  assert.equal(groups.length, 4);
  assert.equal((await own.status(pool)).depth, 3);
  // Two more tokens at 36 seconds each.
  assert.equal(groups.at(-1)!.tat_ms - before!.tat_ms, 72_000);
});

test("a concurrency slot is released when its item ends, whatever the outcome", async () => {
  const pool = await own.pool({
    config: {
      admission: { concurrency: { key: "'one'", limit: 1 } },
      retry: { initial_ms: 3_600_000, max_ms: 3_600_000 },
    },
  });
  const item = (id: string, verb: string) => own.ok("POST", `/api/queues/${pool}/items/${id}/${verb}`, {});
  const ends: ((leased: ResponseData) => Promise<unknown>)[] = [
    (leased) => own.complete(leased),
    (leased) => own.fail(leased),
    (leased) => own.fail(leased, { retryable: false }),
    ({ queue_item_id }) => item(queue_item_id, "cancel"),
  ];
  await own.routeAll(Array.from({ length: ends.length + 1 }, () => ({ pool_id: pool, type: "t" })));
  for (const end of ends) {
    const leased = await own.leaseOne(pool);
    assert.deepEqual(await own.lease(pool), []);
    const { data: groups } = await own.ok("GET", `/api/queues/admission-groups?pool_id=${pool}`);
    assert.deepEqual([groups[0].in_use, groups[0].limit, groups[0].status], [1, 1, "saturated"]);
    await end(leased);
  }
  const last = await own.leaseOne(pool, { lease_s: 1 });
  // A crashed worker keeps its slot until its lease expires; then the first item in order gets it.
  const again = await own.leaseOne(pool);
  assert.deepEqual([again.queue_item_id, again.attempt], [last.queue_item_id, 2]);
  await own.complete(again);
});

test("a raised limit admits waiting items, and a lowered limit applies to items that already wait", async () => {
  const pool = await own.pool({ config: { admission: { concurrency: { key: "'one'", limit: 1 } } } });
  const limit = (value: number) =>
    own.ok("PATCH", `/api/pools/${pool}`, { config: { admission: { concurrency: { limit: value } } } });
  await own.routeAll(Array.from({ length: 8 }, () => ({ pool_id: pool, type: "t" })));
  const running = [await own.leaseOne(pool)];
  await limit(3);
  running.push(await own.leaseOne(pool), await own.leaseOne(pool));
  assert.deepEqual(await own.lease(pool), []);
  await limit(2);
  // Running items are not stopped; one of the released slots is not assigned again.
  await own.complete(running[0]);
  assert.deepEqual(await own.lease(pool), []);
  await own.complete(running[1]);
  assert.equal((await own.lease(pool, { max_items: 9 })).length, 1);
});

test("clearing a group releases its items and stores the reason; a concurrency group cannot be cleared", async () => {
  const admission = {
    throttle: { key: "item.key", limit: 1, period_s: 3600 },
    concurrency: { key: "item.key", limit: 9 },
  };
  const pool = await own.pool({ config: { admission } });
  const [, second] = await own.routeAll([1, 2].map(() => ({ pool_id: pool, type: "t", key: "k" })));
  await own.leaseOne(pool);
  assert.deepEqual(await own.lease(pool), []);
  const { data: groups } = await own.ok("GET", `/api/queues/admission-groups?pool_id=${pool}`);
  const [concurrency, throttle] = groups;
  const path = ({ constraint_kind, group_id }: ResponseData) =>
    `/api/queues/${pool}/admission-groups/${constraint_kind}/${group_id}`;
  assert.deepEqual([throttle.constraint_kind, throttle.status, throttle.waiting], ["throttle", "cooling", 1]);
  await own.refused("INVALID_ARGUMENT", "POST", `${path(throttle)}:clear`, { reason: "" });
  await own.refused("FAILED_PRECONDITION", "POST", `${path(concurrency)}:clear`, { reason: "stuck" });
  const { data } = await own.ok("POST", `${path(throttle)}:clear`, { reason: "the customer called" });
  assert.deepEqual([data.status, data.cleared_reason], ["cleared", "the customer called"]);
  assert.equal((await own.leaseOne(pool)).queue_item_id, second.decision.queue_item_id);
  await until(
    async () => (await own.ok("GET", path(throttle))).data,
    ({ waiting }) => waiting === 0,
  );
});
