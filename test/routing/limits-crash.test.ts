import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type SupervisedNode, supervise } from "../chaos/supervised-node.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import {
  allItems,
  checkHolds,
  checkWindows,
  countCompleted,
  createPost,
  createRandom,
  type Hold,
  type Post,
  survivorOf,
} from "./lease-checks.ts";
import { type ResponseData, tenantAt } from "./tenant-fixture.ts";

const itemCount = sized(600, 5000);
const batchSize = 20;
const customers = 7;
const atOnce = 3;
const perSecond = 40;

const config = {
  admission: {
    singleton: { key: "item.attributes.order", mode: "replace_pending" },
    debounce: { key: "item.attributes.document", period_s: 1 },
    throttle: { key: "item.attributes.customer", limit: perSecond, period_s: 1 },
    concurrency: { key: "item.attributes.customer", limit: atOnce },
  },
  retry: { initial_ms: 5, max_ms: 5, max_attempts: 100 },
};

function itemOf(poolId: string, n: number): object {
  const attributes = {
    customer: `c${n % customers}`,
    order: `o${n % 10 === 7 ? n - 1 : n}`,
    document: `d${n % 12 === 5 ? n - 1 : n}`,
  };
  return { pool_id: poolId, type: "job", attributes };
}

test("with random crashes and vanishing workers, two nodes exceed no limit, lose nothing and do nothing twice", async (t) => {
  const database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": "sk_test_limits_0123456789abcdef" };
  const nodes = await Promise.all([supervise(settings, 2), supervise(settings, 1)]);
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const chance = createRandom(7);
  const ownAt = async (node: SupervisedNode) => {
    const current = await node.current;
    return tenantAt(current, { id: "", key: current.adminKey });
  };
  const pool = await (await ownAt(nodes[0]!)).pool({ config });

  let finished = false;
  /** Sends a batch with its key until it gets a response, through any number of crashes. */
  async function routeUntilAnswered(node: SupervisedNode, items: object[], key: string): Promise<ResponseData> {
    const post = createPost();
    while (!finished) {
      const headers = { "idempotency-key": key };
      const running = await node.current;
      onTheirWay.add(key);
      // Some callers lose the response and have to retry.
      const leave = chance() < 0.4 ? AbortSignal.timeout(Math.ceil(chance() * 60)) : undefined;
      const answer = await post(running, "/api/route:batch", { items }, headers, leave).catch(() => undefined);
      onTheirWay.delete(key);
      if (answer?.status === 200) return answer.body.data;
      if (answer !== undefined && answer.body.retryable !== true) assert.fail(JSON.stringify(answer.body));
      await delay(20);
    }
    assert.fail("gave up");
  }

  const onTheirWay = new Set<string>();
  let taken = 0;
  let routed = 0;
  const decisions: ResponseData[] = [];
  const router = async (node: SupervisedNode) => {
    while (taken < itemCount) {
      const from = taken;
      taken += batchSize;
      // Staggered, so that every crash hits some batches in flight.
      await until(
        () => acknowledged.size,
        (done) => done >= 0.6 * from - 100,
        90_000,
      );
      const items = Array.from({ length: batchSize }, (_, n) => itemOf(pool, from + n));
      const { results } = await routeUntilAnswered(node, items, `batch ${from}`);
      for (const { decision } of results) decisions.push(decision);
      routed += batchSize;
    }
  };

  let vanished = 0;
  const holds: Hold[] = [];
  const acknowledged = new Map<string, number>();
  const worker = async (node: SupervisedNode) => {
    const post = createPost();
    while (!finished) {
      const answer = await post(await node.current, `/api/queues/${pool}/lease`, {
        max_items: 2,
        wait_s: 1,
        lease_s: 2,
      }).catch(() => undefined);
      // While its node is down a worker retries.
      if (answer?.status !== 200) await delay(20);
      for (const item of answer?.status === 200 ? answer.body.data.items : []) await work(node, post, item);
    }
  };
  async function work(node: SupervisedNode, post: Post, item: ResponseData): Promise<void> {
    const { queue_item_id: itemId, lease_token, lease_expires_at, attributes } = item;
    // The wall clock may be set during the test, so holds are compared by the monotonic one.
    const fromMs = performance.now();
    const expiresMs = Date.parse(lease_expires_at) - Date.now() + fromMs;
    await delay(chance() * 20);
    const vanishes = chance() < 0.04;
    const untilMs = vanishes ? expiresMs : Math.min(performance.now(), expiresMs);
    if (untilMs > fromMs) holds.push({ itemId, group: attributes.customer, fromMs, untilMs });
    if (vanishes) {
      vanished++;
      return;
    }
    const verb = chance() < 0.05 ? "fail" : "complete";
    const told = await post(await node.current, `/api/queues/${pool}/items/${itemId}/${verb}`, { lease_token }).catch(
      () => undefined,
    );
    if (told === undefined || told.status >= 500) return;
    if (told.status !== 200) assert.equal(told.body.errorCode, "LEASE_LOST");
    else if (verb === "complete") acknowledged.set(itemId, (acknowledged.get(itemId) ?? 0) + 1);
  }

  const crashing = (async () => {
    for (const [at, node] of [...nodes, nodes[0]!].entries()) {
      await until(
        () => ({ done: acknowledged.size, routed, holds: holds.length }),
        ({ done }) => done > 40 + at * 200 + chance() * 60,
        90_000,
      );
      // Crash at an arbitrary point.
      await until(() => routed === itemCount || onTheirWay.size >= 2);
      await delay(chance() * 25);
      await node.crash();
    }
  })();
  const watching = (async () => {
    await Promise.all([...nodes, ...nodes].map(router).concat(crashing));
    await until(
      async () => (await ownAt(nodes[0]!)).status(pool),
      ({ depth, in_flight }) => depth === 0 && in_flight === 0,
    );
  })();
  // The workers must end even when the test fails.
  const watched = watching.finally(() => {
    finished = true;
  });
  await Promise.all([watched, ...Array.from({ length: 24 }, (_, n) => worker(nodes[n % 2]!))]);

  assert.equal(routed, itemCount);
  assert.ok(vanished > 0 && holds.length > 0);
  checkHolds(holds, atOnce);
  const own = await ownAt(nodes[1]!);
  const items = await allItems((query) => own.ok("GET", `/api/queues/${pool}/items${query}`));
  for (const customers of Map.groupBy(items.values(), ({ attributes }) => attributes.customer).values()) {
    const times = customers.flatMap(({ leased_at }) => (leased_at === undefined ? [] : [Date.parse(leased_at)]));
    checkWindows(times, perSecond, 1000);
  }
  // Every order and every document ends in a completed item; no item has any other final state.
  assert.equal(
    items.size,
    new Set(decisions.filter(({ queue_item_id }) => queue_item_id !== "").map(({ decision_id }) => decision_id)).size,
  );
  for (const { decision_id, outcome, existing_item_id } of decisions) {
    const item = items.get(outcome === "deduplicated" ? existing_item_id : decision_id);
    assert.equal(survivorOf(items, item).state, "completed", `${decision_id} ${outcome}`);
  }
  for (const [id, times] of acknowledged) {
    assert.deepEqual([times, items.get(id).state], [1, "completed"]);
  }
  const { data: groups } = await own.ok("GET", "/api/queues/admission-groups?limit=1000&constraint_kind=concurrency");
  assert.deepEqual(
    groups.map(({ in_use, waiting }: ResponseData) => [in_use, waiting]),
    Array(customers).fill([0, 0]),
  );
  const completed = [...items.values()].filter(({ state }) => state === "completed").length;
  assert.equal(await countCompleted(database.sql, pool), completed);
});
