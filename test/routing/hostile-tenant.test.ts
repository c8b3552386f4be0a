import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

const node = await startService();

/** A pool whose only rule uses the full evaluation budget for every recipient. */
async function costlyPool(tenant: TenantFixture, recipients = 20): Promise<string> {
  const pool = await tenant.pool({ strategy: "round_robin" });
  for (let nth = 0; nth < recipients; nth++) await tenant.recipient(pool);
  const condition = "item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0";
  await tenant.rule(pool, { type: "require" }, { condition });
  return pool;
}

const costlyItems = (poolId: string, count: number) =>
  Array.from({ length: count }, () => ({
    pool_id: poolId,
    type: "task",
    attributes: { l: Array.from({ length: 300 }, (_, nth) => nth) },
  }));

const assignmentOf = async (tenant: TenantFixture, poolId: string, id: string): Promise<ResponseData> =>
  (await tenant.ok("GET", `/api/queues/${poolId}/items/${id}/admission-explanation`)).data.assignment;

test("other tenants and /health get responses while one tenant's expensive rules are evaluated", async () => {
  const [hostile, normal] = [await newTenant(node), await newTenant(node)];
  const pool = await normal.pool({ strategy: "round_robin" });
  await normal.recipient(pool);
  await normal.route(pool);

  const callDuringBatch = async () => {
    const costly = await costlyPool(hostile);
    let isDone = false;
    const batch = hostile.routeAll(costlyItems(costly, 500)).finally(() => {
      isDone = true;
    });
    let answered = 0;
    for (; !isDone; answered++) {
      assert.equal((await normal.route(pool)).outcome, "routed");
      assert.equal((await fetch(`${node.baseUrl}/health`)).status, 200);
    }
    return { costly, answered, results: await batch };
  };
  // On a busy machine, a batch may be over after few calls.
  let called = await callDuringBatch();
  for (let batches = 1; called.answered <= 2 && batches < 5; batches++) called = await callDuringBatch();
  const { costly, results, answered } = called;
  assert.ok(answered > 2, `${answered} calls were answered during the batch`);

  // All were accepted: some were too expensive, and the call had no time for the others.
  const reasons = results.map(({ decision }) => `${decision.outcome} ${decision.reason}`);
  assert.deepEqual([...new Set(reasons)].sort(), ["queued decided_later", "queued rules_too_costly"]);
  assert.equal((await hostile.status(costly)).depth, 500);

  // They are also decided in the background, and others still do not wait for that.
  const deferred = results.find(({ decision }) => decision.reason === "decided_later").decision.queue_item_id;
  let routed = 0;
  await until(
    async () => {
      assert.equal((await normal.route(pool)).outcome, "routed");
      routed++;
      return assignmentOf(hostile, costly, deferred);
    },
    (assignment) => assignment?.reason === "rules_too_costly",
  );
  assert.ok(routed > 0);
  for (const { decision } of [results[0], results.at(-1)]) {
    const replayed = await hostile.ok("POST", `/api/decisions/${decision.decision_id}:replay`, {});
    assert.equal(replayed.data.identical, true, JSON.stringify(replayed.data.differences));
  }
});

test("an item whose rules are too expensive is retried with increasing delays, as its explanation says", async () => {
  const tenant = await newTenant(node);
  const pool = await costlyPool(tenant);
  const [{ decision }] = await tenant.routeAll(costlyItems(pool, 1));
  const waits: number[] = [];
  for (let tries = 1; tries <= 2; tries++) {
    const before = Date.now();
    const assignment = await until(
      () => assignmentOf(tenant, pool, decision.queue_item_id),
      (seen) => (seen?.tries ?? 0) >= tries,
    );
    assert.deepEqual([assignment.tries, assignment.reason], [tries, "rules_too_costly"]);
    waits.push(Date.parse(assignment.next_try_at) - before);
  }
  assert.ok(waits[1]! > waits[0]!, waits.join(" "));
  // The item itself shows the same.
  assert.equal((await tenant.item(pool, decision.queue_item_id)).assignment.reason, "rules_too_costly");
});

test("an item without an eligible recipient is retried immediately when one becomes eligible", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({ strategy: "round_robin" });
  await tenant.recipient(pool, { attributes: { regions: ["south"] } });
  const condition = "item.attributes.region in recipient.attributes.regions";
  await tenant.rule(pool, { type: "require" }, { condition });
  const { queue_item_id: id } = await tenant.route(pool, { attributes: { region: "north" } });
  await until(
    () => assignmentOf(tenant, pool, id),
    (seen) => seen?.tries >= 3 && seen.reason === "rules_exclude_all",
  );
  const recipientId = await tenant.recipient(pool, { attributes: { regions: ["north"] } });
  const taken = await until(
    () => tenant.item(pool, id),
    ({ recipient_id }) => recipient_id === recipientId,
  );
  assert.equal(taken.assignment, undefined);
});

test("an item requeued after a failed attempt starts its routing attempts from zero", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({
    strategy: "round_robin",
    config: { retry: { initial_ms: 600_000, max_ms: 600_000, jitter: 0 } },
  });
  await tenant.recipient(pool);
  const { queue_item_id: id } = await tenant.route(pool, { requirements: { skills: { welding: 1 } } });
  await until(
    () => assignmentOf(tenant, pool, id),
    (seen) => seen?.tries >= 1,
  );
  await tenant.recipient(pool, { skills: { welding: 1 } });
  await tenant.fail(await tenant.leaseOne(pool), { reason: "broken" });
  const { state, assignment } = await tenant.item(pool, id);
  assert.deepEqual([state, assignment], ["pending", undefined]);
});

test("expensive rules of a pull pool delay neither other tenants nor cheap items behind expensive ones", async () => {
  const [hostile, normal] = [await newTenant(node), await newTenant(node)];
  const pool = await hostile.pool({ strategy: "first_accept" });
  const recipientId = await hostile.recipient(pool);
  await hostile.rule(
    pool,
    { type: "require" },
    {
      condition:
        "item.type == 'cheap' || item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0",
    },
  );
  for (let nth = 0; nth < 20; nth++) await hostile.recipient(pool);
  await hostile.routeAll(costlyItems(pool, 20));
  await hostile.route(pool, { type: "cheap" });
  const other = await normal.pool({ strategy: "round_robin" });
  await normal.recipient(other);
  const leased = hostile.leaseOne(pool, { recipient_id: recipientId });
  for (let nth = 0; nth < 5; nth++) assert.equal((await normal.route(other)).outcome, "routed");
  assert.equal((await leased).type, "cheap");
});
