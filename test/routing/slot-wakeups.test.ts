import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "./receiver.ts";
import { newTenant } from "./tenant-fixture.ts";

// No test in this file may depend on polling.
const node = await startService({ "routing.assign_poll_ms": "3600000" });

const itemsOf = (poolId: string, count: number) =>
  Array.from({ length: count }, () => ({ pool_id: poolId, type: "task" }));

test("a slot that a worker releases goes to the next waiting item without a poll", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({ strategy: "round_robin" });
  const recipientId = await tenant.recipient(pool, { capacity: 1 });
  await tenant.routeAll(itemsOf(pool, 12));
  for (let nth = 0; nth < 12; nth++) {
    await tenant.complete(await tenant.leaseOne(pool, { recipient_id: recipientId }));
  }
  assert.equal((await tenant.status(pool)).depth, 0);
});

test("pushed items follow each other without a poll, and never exceed the recipient's capacity", async () => {
  const tenant = await newTenant(node);
  const receiver = await startReceiver(() => ({ status: 204 }));
  const pool = await tenant.pool({ strategy: "round_robin" });
  await tenant.recipient(pool, { capacity: 4, delivery: { mode: "MODE_PUSH", url: receiver.url } });
  await tenant.routeAll(itemsOf(pool, 40));
  await until(
    () => tenant.status(pool),
    ({ depth, in_flight }) => depth === 0 && in_flight === 0,
  );
  assert.equal(receiver.received.length, 40);
  assert.ok(receiver.openMax <= 4, `${receiver.openMax} concurrent requests`);
});

test("a failed attempt releases its slot, and so does a crashed worker", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({
    strategy: "round_robin",
    config: { retry: { initial_ms: 60_000, max_ms: 60_000, jitter: 0 } },
  });
  const recipientId = await tenant.recipient(pool, { capacity: 1 });
  const worker = { recipient_id: recipientId };
  await tenant.routeAll(itemsOf(pool, 3));
  const first = await tenant.leaseOne(pool, worker);
  await tenant.fail(first, { reason: "broken" });
  const second = await tenant.leaseOne(pool, { ...worker, lease_s: 5 });
  assert.notEqual(second.queue_item_id, first.queue_item_id);
  // The lease expires: the slot goes to the first of the two other items.
  const third = await tenant.leaseOne(pool, worker);
  assert.notEqual(third.queue_item_id, first.queue_item_id);
});

test("a new recipient gets waiting items without a poll", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({ strategy: "round_robin" });
  await tenant.route(pool);
  const recipientId = await tenant.recipient(pool);
  const item = await tenant.leaseOne(pool, { recipient_id: recipientId });
  assert.equal(item.recipient_id, recipientId);
});

test("a retry that becomes due is assigned to a recipient without a poll", async () => {
  const tenant = await newTenant(node);
  const pool = await tenant.pool({
    strategy: "round_robin",
    config: { retry: { initial_ms: 10, max_ms: 10, jitter: 0 } },
  });
  const recipientId = await tenant.recipient(pool, { capacity: 1 });
  await tenant.route(pool);
  await tenant.fail(await tenant.leaseOne(pool, { recipient_id: recipientId }), { retryable: true, reason: "broken" });
  await tenant.complete(await tenant.leaseOne(pool, { recipient_id: recipientId }));
  assert.equal((await tenant.status(pool)).depth, 0);
});
