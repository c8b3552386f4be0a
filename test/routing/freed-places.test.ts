import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { startReceiver } from "./receiver.ts";
import { newParty, shown } from "./stage.ts";

// Nothing in this file may depend on the poll.
const node = await startService({ "routing.assign_poll_ms": "3600000" });

const itemsOf = (poolId: string, count: number) =>
  Array.from({ length: count }, () => ({ pool_id: poolId, type: "task" }));

test("a place that a worker frees goes to the next waiting item without a poll", async () => {
  const party = await newParty(node);
  const pool = await party.pool({ strategy: "round_robin" });
  const recipientId = await party.recipient(pool, { capacity: 1 });
  await party.routeAll(itemsOf(pool, 12));
  for (let nth = 0; nth < 12; nth++) {
    await party.complete(await party.leaseOne(pool, { recipient_id: recipientId }));
  }
  assert.equal((await party.status(pool)).depth, 0);
});

test("items that are pushed follow each other without a poll, and never more at once than the recipient bears", async () => {
  const party = await newParty(node);
  const receiver = await startReceiver(() => ({ status: 204 }));
  const pool = await party.pool({ strategy: "round_robin" });
  await party.recipient(pool, { capacity: 4, delivery: { mode: "MODE_PUSH", url: receiver.url } });
  await party.routeAll(itemsOf(pool, 40));
  await shown(
    () => party.status(pool),
    ({ throughput_today }) => throughput_today === 40,
  );
  assert.equal(receiver.received.length, 40);
  assert.ok(receiver.openMax <= 4, `${receiver.openMax} at once`);
});

test("an attempt that fails frees its place, and so does a worker that is not heard of again", async () => {
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
  // Its lease ends: the place goes to whichever of the two others comes first.
  const third = await party.leaseOne(pool, worker);
  assert.notEqual(third.queue_item_id, first.queue_item_id);
});

test("a recipient that is added takes what waits without a poll", async () => {
  const party = await newParty(node);
  const pool = await party.pool({ strategy: "round_robin" });
  await party.route(pool);
  const recipientId = await party.recipient(pool);
  const item = await party.leaseOne(pool, { recipient_id: recipientId });
  assert.equal(item.recipient_id, recipientId);
});

test("a retry that falls due is given to a recipient without a poll", async () => {
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
