import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { allItems, checkHolds, checkWindows, createPost, createRandom, type Hold, survivorOf } from "./lease-checks.ts";
import { type ResponseData, tenantAt } from "./tenant-fixture.ts";

const itemCount = sized(2000, 20_000);
const customers = 23;
const atOnce = 6;
const perSecond = 100;
const workers = 64;

const admission = {
  singleton: { key: "item.attributes.order" },
  debounce: { key: "item.attributes.document", period_s: 1, max_delay_s: 4 },
  throttle: { key: "item.attributes.customer", limit: perSecond, period_s: 1 },
  concurrency: { key: "item.attributes.customer", limit: atOnce },
};

type Call = (path: string, body: object) => Promise<ResponseData>;

/** Of twenty items one repeats the previous order, two edit the previous document, and a few edit hot documents. */
function itemOf(poolId: string, n: number): object {
  const order = n % 20 === 7 ? n - 1 : n;
  const document = n % 20 === 11 || n % 20 === 12 ? n - (n % 20) + 10 : n % 100 === 3 ? `hot ${n % 7}` : n;
  const attributes = { customer: `c${n % customers}`, order: `o${order}`, document: `d${document}` };
  return { pool_id: poolId, type: "job", attributes, payload: { n } };
}

test(`64 workers over ${itemCount} items: no limit is ever exceeded, nothing is lost, and nothing is leased twice`, async (t) => {
  const database = await freshDatabase();
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_limits_0123456789abcdef",
  });
  t.after(async () => {
    await node.kill();
    await database.drop();
  });
  const own = tenantAt(node, { id: "", key: node.adminKey });
  const pool = await own.pool({
    config: { admission, lease: { duration_s: 600 }, retry: { initial_ms: 5, max_ms: 5, max_attempts: 50 } },
  });
  const createCall = () => {
    const post = createPost();
    return async (path: string, body: object) => {
      const response = await post(node, path, body);
      assert.equal(response.status, 200, JSON.stringify(response.body));
      return response.body.data;
    };
  };

  const outcomes = new Map<string, ResponseData>();
  const routedFromMs = Date.now();
  const routing = (async () => {
    const call = createCall();
    for (let from = 0; from < itemCount; from += 1000) {
      const items = Array.from({ length: 1000 }, (_, n) => itemOf(pool, from + n));
      const { results } = await call("/api/route:batch", { items });
      for (const { decision } of results) outcomes.set(decision.decision_id, decision);
    }
  })();

  let finished = false;
  const holds: Hold[] = [];
  const completed = new Map<string, number>();
  const leasedOf = new Map<string, number>();
  const chance = createRandom(1);

  const worker = async () => {
    const call = createCall();
    while (!finished) {
      const { items } = await call(`/api/queues/${pool}/lease`, { max_items: 3, wait_s: 1 });
      const fromMs = Date.now();
      for (const { attributes } of items) keepUp(attributes.customer, fromMs);
      await delay(chance() * 10);
      const untilMs = Date.now();
      for (const { queue_item_id: itemId, attributes } of items) {
        holds.push({ itemId, group: attributes.customer, fromMs, untilMs });
      }
      const { fail, complete } = Object.groupBy(items, () => (chance() < 0.02 ? "fail" : "complete"));
      await end(call, "fail", fail);
      await end(call, "complete", complete);
    }
  };
  async function end(call: Call, verb: "fail" | "complete", items: ResponseData[] = []): Promise<void> {
    if (items.length === 0) return;
    const refs = items.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
    const { results } = await call(`/api/queues/${pool}/items:${verb}`, { items: refs });
    for (const { queue_item_id, state } of results) {
      assert.equal(state, verb === "fail" ? "pending" : "completed");
      if (verb === "complete") completed.set(queue_item_id, (completed.get(queue_item_id) ?? 0) + 1);
    }
  }
  /** Every attempt takes a token: the total number of leases never exceeds the rate. */
  function keepUp(customer: string, atMs: number): void {
    const count = (leasedOf.get(customer) ?? 0) + 1;
    leasedOf.set(customer, count);
    const allowed = 1 + ((atMs - routedFromMs) * perSecond) / 1000;
    assert.ok(count <= allowed, `${count} items of ${customer}, ${allowed} allowed`);
  }

  const watch = async () => {
    await until(
      () => own.status(pool),
      ({ depth, in_flight }) => outcomes.size === itemCount && depth === 0 && in_flight === 0,
      300_000,
    );
    finished = true;
  };
  await Promise.all([routing, watch(), ...Array.from({ length: workers }, worker)]);

  checkHolds(holds, atOnce);
  const items = await allItems((query) => own.ok("GET", `/api/queues/${pool}/items${query}`));
  for (const own of Map.groupBy(items.values(), ({ attributes }) => attributes.customer).values()) {
    const times = own.flatMap(({ leased_at }) => (leased_at === undefined ? [] : [Date.parse(leased_at)]));
    checkWindows(times, perSecond, 1000);
  }
  const ends = Map.groupBy(outcomes.values(), ({ decision_id, outcome }) => items.get(decision_id)?.state ?? outcome);
  assert.deepEqual([...ends.keys()].sort(), ["completed", "deduplicated", "superseded"]);
  assert.equal(ends.get("deduplicated")!.length, itemCount / 20);
  assert.equal(items.size, itemCount - itemCount / 20);
  for (const { existing_item_id } of ends.get("deduplicated")!) assert.ok(items.has(existing_item_id));
  for (const { decision_id } of ends.get("superseded")!) {
    const item = items.get(decision_id);
    assert.equal(survivorOf(items, item).attributes.document, item.attributes.document);
    assert.equal(survivorOf(items, item).state, "completed");
  }
  assert.ok(ends.get("superseded")!.length >= itemCount / 10);
  assert.deepEqual(new Set(completed.keys()), new Set(ends.get("completed")!.map(({ decision_id }) => decision_id)));
  assert.ok([...completed.values()].every((times) => times === 1));
  const { data: groups } = await own.ok("GET", "/api/queues/admission-groups?constraint_kind=concurrency&limit=1000");
  assert.deepEqual(
    groups.map(({ in_use, waiting, limit }: ResponseData) => [in_use, waiting, limit]),
    Array(customers).fill([0, 0, atOnce]),
  );
});
