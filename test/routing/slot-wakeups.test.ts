import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "./receiver.ts";
import { newParty } from "./tenant-fixture.ts";

// No test in this file may depend on polling.
const node = await startService({ "routing.assign_poll_ms": "3600000" });

const itemsOf = (poolId: string, count: number) =>
  Array.from({ length: count }, () => ({ pool_id: poolId, type: "task" }));

test("a slot that a worker releases goes to the next waiting item without a poll", async () => {
  const party = await newParty(node);
  const pool = await party.pool({ strategy: "round_robin" });
  const recipientId = await party.recipient(pool, { capacity: 1 });
  await party.routeAll(itemsOf(pool, 12));
  for (let nth = 0; nth < 12; nth++) {
    await party.complete(await party.leaseOne(pool, { recipient_id: recipientId }));
  }
  assert.equal((await party.status(pool)).depth, 0);
});

test("pushed items follow each other without a poll, and never exceed the recipient's capacity", async () => {
  const party = await newParty(node);
  const receiver = await startReceiver(() => ({ status: 204 }));
  const pool = await party.pool({ strategy: "round_robin" });
  await party.recipient(pool, { capacity: 4, delivery: { mode: "MODE_PUSH", url: receiver.url } });
  await party.routeAll(itemsOf(pool, 40));
  await until(
    () => party.status(pool),
    ({ throughput_today }) => throughput_today === 40,
  );
  assert.equal(receiver.received.length, 40);
  assert.ok(receiver.openMax <= 4, `${receiver.openMax} concurrent requests`);
});

test("a failed attempt releases its slot, and so does a crashed worker", async () => {
  const party = await newParty(node);
  const pool = await party.pool({
    strategy: "round_robin",
    config: { retry: { initial_ms: 60_000, max_ms: 60_000, jitter: 0 } },
  });
  const recipientId = await party.recipient(pool, { capacity: 1 });
  const worker = { recipient_id: recipientId };
  await party.routeAll(itemsOf(pool, 3));
  const first = await party.leaseOne(pool, worker);
  await party.fail(first, { reason: "broken" });
  const second = await party.leaseOne(pool, { ...worker, lease_s: 5 });
  assert.notEqual(second.queue_item_id, first.queue_item_id);
  // The lease expires: the slot goes to the first of the two other items.
  const third = await party.leaseOne(pool, worker);
  assert.notEqual(third.queue_item_id, first.queue_item_id);
});

test("a new recipient gets waiting items without a poll", async () => {
  const party = await newParty(node);
  const pool = await party.pool({ strategy: "round_robin" });
  await party.route(pool);
  const recipientId = await party.recipient(pool);
  const item = await party.leaseOne(pool, { recipient_id: recipientId });
  assert.equal(item.recipient_id, recipientId);
});

test("a retry that becomes due is assigned to a recipient without a poll", async () => {
  const party = await newParty(node);
  const pool = await party.pool({
    strategy: "round_robin",
    config: { retry: { initial_ms: 10, max_ms: 10, jitter: 0 } },
  });
  const recipientId = await party.recipient(pool, { capacity: 1 });
  await party.route(pool);
  await party.fail(await party.leaseOne(pool, { recipient_id: recipientId }), { retryable: true, reason: "broken" });
  await party.complete(await party.leaseOne(pool, { recipient_id: recipientId }));
  assert.equal((await party.status(pool)).depth, 0);
});
