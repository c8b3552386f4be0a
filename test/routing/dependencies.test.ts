import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

const settings = { "auth.bootstrap_api_key": "sk_test_after_0123456789abcdef" };

let database: TestDatabase;
let service: TestService;
/** A node without background work. */
let quiet: TestService;
let own: TenantFixture;
before(async () => {
  database = await freshDatabase();
  service = await startService(settings, database.url);
  quiet = await startService(settings, database.url, "api");
  own = await newTenant(service);
});
after(async () => {
  await Promise.all([service.stop(), quiet.stop()]);
  await database.drop();
});

const idOf = async (pool: string, fields: object = {}): Promise<string> =>
  (await own.route(pool, fields)).queue_item_id;

async function explanation(pool: string, id: string): Promise<ResponseData> {
  return (await own.ok("GET", `/api/queues/${pool}/items/${id}/admission-explanation`)).data;
}

/** Leases items until the one with the id is among them. The others stay leased. */
async function leaseItem(pool: string, id: string): Promise<ResponseData> {
  const withId = (items: readonly ResponseData[]) => items.find((each) => each.queue_item_id === id);
  const items = await until(
    () => own.lease(pool, { max_items: 10, wait_s: 5 }),
    (leased) => withId(leased) !== undefined,
  );
  return withId(items);
}

test("an item waits until all items that it names are completed, and its explanation names them", async () => {
  const pool = await own.pool();
  const other = await own.pool();
  const [first, second] = [await idOf(pool), await idOf(other)];
  const decision = await own.route(pool, { after: [first, second], payload: { n: 3 } });
  assert.deepEqual([decision.outcome, decision.reason], ["held", "awaiting_dependencies"]);
  const id = decision.queue_item_id;
  const held = await own.item(pool, id);
  assert.deepEqual([held.state, held.hold_reason], ["held", "dependency"]);
  assert.deepEqual([held.after, held.after_failure], [[first, second], "cancel"]);
  assert.equal((await own.status(pool)).depth, 2);

  await own.complete(await leaseItem(pool, first));
  assert.deepEqual(
    (await explanation(pool, id)).dependencies.map((each: ResponseData) => [each.queue_item_id, each.state]),
    [
      [first, "completed"],
      [second, "ready"],
    ],
  );
  const { waits } = (await own.ok("GET", `/api/explain/${id}`)).data;
  assert.equal(waits[0].code, "dependency");
  assert.ok(waits[0].message.includes(second) && !waits[0].message.includes(first));
  assert.deepEqual(await own.lease(pool), []);

  await own.complete(await leaseItem(other, second));
  const leased = await leaseItem(pool, id);
  assert.deepEqual(leased.payload, { n: 3 });
  await own.complete(leased);
  assert.deepEqual((await own.item(pool, id)).after, [first, second]);
});

test("a leased item carries the results of the items that it waited for, whenever they ended", async () => {
  const [pool, other] = [await own.pool(), await own.pool()];
  const early = await idOf(other, { key: "early" });
  await own.complete(await leaseItem(other, early), { result: { pages: [1, 2] } });
  const [late, without] = [await idOf(other, { key: "late" }), await idOf(other)];
  const failing = await idOf(other, { key: "failing" });
  const request = { after: [late, early, without, failing], after_failure: "run" };
  const [id, again] = [await idOf(pool, request), await idOf(pool, { after: [early] })];
  const [first, second, third] = await own.leaseMany(other, 3);
  await own.complete(first!, { result: "text" });
  await own.complete(second!);
  await own.fail(third!, { retryable: false });
  const item = (queue_item_id: string, key: string, more: object = {}) => ({
    ...{ queue_item_id, key, state: "completed", result_omitted: false, ...more },
  });
  assert.deepEqual((await leaseItem(pool, again)).after, [item(early, "early", { result: { pages: [1, 2] } })]);
  assert.deepEqual((await leaseItem(pool, id)).after, [
    item(late, "late", { result: "text" }),
    item(early, "early", { result: { pages: [1, 2] } }),
    item(without, ""),
    item(failing, "failing", { state: "dead_lettered" }),
  ]);
  assert.deepEqual((await leaseItem(pool, await idOf(pool))).after, []);
});

test("results that are large together are left out, and said to be", async () => {
  const pool = await own.pool();
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const id = await idOf(pool);
    await own.complete(await leaseItem(pool, id), { result: "x".repeat(60_000) });
    ids.push(id);
  }
  const { after } = await leaseItem(pool, await idOf(pool, { after: ids }));
  assert.deepEqual(
    after.map(({ result, result_omitted }: ResponseData) => [result?.length, result_omitted]),
    [...Array(4).fill([60_000, false]), [undefined, true]],
  );
});

test("an item whose dependencies have ended already is ready at once", async () => {
  const pool = await own.pool();
  const first = await idOf(pool);
  await own.complete(await leaseItem(pool, first));
  const decision = await own.route(pool, { after: [first] });
  assert.notEqual(decision.outcome, "held");
  assert.equal((await own.item(pool, decision.queue_item_id)).state, "ready");
});

const ends: Record<string, (pool: string, id: string) => Promise<unknown>> = {
  cancelled: (pool, id) => own.ok("POST", `/api/queues/${pool}/items/${id}/cancel`, {}),
  dead_lettered: async (pool, id) => own.fail(await leaseItem(pool, id), { retryable: false }),
  drained: (pool) => own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 1 }),
};

for (const [state, end] of Object.entries(ends)) {
  test(`when an item is ${state}, items that wait for it are cancelled in turn, or run if they say so`, async () => {
    const [pool, waiting] = [await own.pool(), await own.pool()];
    const first = await idOf(pool);
    const cancelled = await idOf(waiting, { after: [first] });
    const next = await idOf(waiting, { after: [cancelled] });
    const runs = await idOf(waiting, { after: [first, next], after_failure: "run" });
    await end(pool, first);
    assert.equal((await own.item(pool, first)).state, state);
    for (const id of [cancelled, next]) {
      await own.itemIn(waiting, id, "cancelled");
      const { data: events } = await own.ok("GET", `/api/events?types=queue.item.cancelled&subject=${id}`);
      assert.deepEqual(
        events.map(({ data }: ResponseData) => data),
        [{ pool_id: waiting, reason: "dependency_failed" }],
      );
    }
    assert.equal((await leaseItem(waiting, runs)).queue_item_id, runs);
    assert.equal((await own.status(waiting)).depth, 0);
    // A new item that would be cancelled at once is refused.
    const late = { pool_id: waiting, type: "task", after: [first] };
    await own.refused("FAILED_PRECONDITION", "POST", "/api/route", late);
    await own.ok("POST", "/api/route", { ...late, after_failure: "run" });
  });
}

test("items of other tenants, unknown items and impossible waits are refused, each in its own result", async () => {
  const pool = await own.pool();
  const stranger = await newTenant(service);
  const foreign = (await stranger.route(await stranger.pool())).queue_item_id;
  const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const debounced = await own.pool({ config: { admission: { debounce: { key: "item.key" } } } });
  const deciding = await own.pool();
  await own.recipient(deciding, { delivery: { mode: "MODE_DECISION_ONLY" } });
  const first = await idOf(pool);
  const item = (fields: object) => ({ pool_id: pool, type: "task", ...fields });
  const results = await own.routeAll([
    item({ after: [first, foreign] }),
    item({ after: [unknown] }),
    item({ after: [first], pool_id: debounced }),
    item({ after: [first], pool_id: deciding }),
    item({ after: [first, first] }),
    item({ after: [first] }),
  ]);
  assert.deepEqual(
    results.map(({ error_code, violations }) => [error_code, violations[0]?.field]),
    [
      ["INVALID_ARGUMENT", "after[1]"],
      ["INVALID_ARGUMENT", "after[0]"],
      ["INVALID_ARGUMENT", "after"],
      ["INVALID_ARGUMENT", "after"],
      ["INVALID_ARGUMENT", "after"],
      ["", undefined],
    ],
  );
  assert.deepEqual([results[2].violations[0].rule, results[3].violations[0].rule], ["debounce", "delivery"]);
  assert.match(
    results[2].violations[0].message,
    /^must be empty, because the pool \w+ has a debounce; use a pool without/,
  );
  assert.equal((await own.status(pool)).depth, 2);

  // A key for other environments cannot find out whether the item exists.
  const { data: environments } = await own.ok("GET", "/api/v2/environments");
  const environment_id = environments.find(({ key }: ResponseData) => key === "staging").id;
  const staged = { pool_id: await own.pool({ environment_id }), type: "task", after: [first] };
  const bound = await own.caller({ roles: ["operator"], environment_mode: "non_production_only" });
  const { body } = await bound.call("POST", "/api/route", staged);
  assert.deepEqual([body.errorCode, body.violations[0].field], ["INVALID_ARGUMENT", "after[0]"]);
  await own.ok("POST", "/api/route", staged);
});

test("an item that waits for another one and for a time is leased after both", async () => {
  const pool = await own.pool();
  const first = await idOf(pool);
  const soon = new Date(Date.now() + 1500).toISOString();
  const later = await idOf(pool, { after: [first], not_before: "2100-01-01T00:00:00Z" });
  const id = await idOf(pool, { after: [first], not_before: soon });
  await own.complete(await leaseItem(pool, first));
  const pending = await own.itemIn(pool, later, "pending");
  assert.deepEqual([pending.hold_reason, pending.due_at], ["not_before", "2100-01-01T00:00:00Z"]);
  await leaseItem(pool, id);
  assert.ok(Date.parse((await own.item(pool, id)).leased_at) >= Date.parse(soon));
});

test("an item waits for the replacement of a replaced item, and an item that replaces what it waits for runs", async () => {
  const config = { admission: { singleton: { key: "item.key", mode: "replace_pending" } } };
  const [pool, waiting] = [await own.pool({ config }), await own.pool()];
  const replaced = await idOf(pool, { key: "k" });
  const id = await idOf(waiting, { after: [replaced] });
  const survivor = await idOf(pool, { key: "k" });
  assert.equal((await own.item(pool, replaced)).state, "superseded");
  const [dependency] = (await explanation(waiting, id)).dependencies;
  assert.deepEqual([dependency.state, dependency.survivor_id], ["ready", survivor]);
  const follower = await idOf(waiting, { after: [replaced], after_failure: "run" });
  const last = await idOf(pool, { key: "k", after: [survivor] });
  assert.equal((await own.item(pool, survivor)).state, "superseded");
  // Its replacement waits itself, so the wait for it would have no safe end.
  await own.itemIn(waiting, id, "cancelled");
  await own.complete(await leaseItem(pool, last), { result: 7 });
  const [awaited] = (await leaseItem(waiting, follower)).after;
  assert.deepEqual([awaited.queue_item_id, awaited.result], [last, 7]);
});

test("a dependency that ends on a node that stops right after it still releases the items that wait for it", async () => {
  const alone = await freshDatabase();
  const dying = await startService(settings, alone.url, "api");
  const at = tenantAt(dying, { id: "", key: dying.adminKey });
  const pool = await at.pool();
  const { queue_item_id: first } = await at.route(pool);
  const { queue_item_id: id } = await at.route(pool, { after: [first] });
  await at.complete(await at.leaseOne(pool));
  // Without background work nothing releases it.
  assert.equal((await at.item(pool, id)).state, "held");
  await dying.stop();
  const next = await startService(settings, alone.url);
  const later = tenantAt(next, at);
  assert.equal((await later.leaseOne(pool)).queue_item_id, id);
  await next.stop();
  await alone.drop();
});

test("a call on one node waits for an item that ends on another, and for the items that wait for that one", async () => {
  const pool = await own.pool();
  const first = await idOf(pool);
  const id = await idOf(pool, { after: [first] });
  const there = tenantAt(quiet, own);
  const waits = [first, id].map((each) => there.ok("GET", `/api/queues/${pool}/items/${each}?wait_s=20`));
  await own.complete(await leaseItem(pool, first));
  await own.complete(await leaseItem(pool, id));
  for (const wait of waits) assert.equal((await wait).data.state, "completed");
});

/** How long no item is completed before a test gives up. */
const stuckMs = 60_000;

test("many workers that complete a random graph of items run every item once, and never before its dependencies", async () => {
  const pool = await own.pool();
  const count = 60;
  const dependencies = new Map<string, string[]>();
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const named = new Set<string>();
    for (let edge = 0; edge < Math.min(3, n); edge++) named.add(ids[(n * 7 + edge * 13) % n]!);
    const id = await idOf(pool, { after: [...named] });
    dependencies.set(id, [...named]);
    ids.push(id);
  }
  const done: string[] = [];
  const begun: string[] = [];
  let giveUpAtMs = performance.now() + stuckMs;
  async function work(at: TenantFixture): Promise<void> {
    while (done.length < count) {
      if (performance.now() > giveUpAtMs) assert.fail(await stuckItems());
      for (const item of await at.lease(pool, { max_items: 3, wait_s: 1 })) {
        for (const before of dependencies.get(item.queue_item_id)!) assert.ok(done.includes(before));
        begun.push(item.queue_item_id);
        await at.complete(item);
        done.push(item.queue_item_id);
        giveUpAtMs = performance.now() + stuckMs;
      }
    }
  }
  async function stuckItems(): Promise<string> {
    const left = await Promise.all(ids.filter((id) => !done.includes(id)).map((id) => own.item(pool, id)));
    const told = left.map(({ id, state, hold_reason, after: named }) => {
      const missing = named.filter((each: string) => !done.includes(each));
      return `${id} is ${state} ${hold_reason} and waits for ${missing.join(", ") || "nothing"}`;
    });
    return `${left.length} of ${count} items are not completed, and none was for a minute:\n${told.join("\n")}`;
  }
  const there = tenantAt(quiet, own);
  await Promise.all([work(own), work(own), work(there), work(there)]);
  assert.deepEqual(begun.sort(), ids.sort());
  const [row] = await database.sql`select count(*)::int as left from queue_dependencies where item_id = any(${ids})`;
  assert.equal(row!.left, 0);
});
