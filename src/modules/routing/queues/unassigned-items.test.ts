import assert from "node:assert/strict";
import { test } from "node:test";
import { recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { createEventLoopScheduler } from "../../../platform/event-loop/index.ts";
import { admissionFixture, constraints, type StagedPool } from "./testing/admission-fixture.ts";
import { createUnassignedItems } from "./unassigned-items.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const deadLettered: string[] = [];
const woken: string[] = [];
const sweepTimes: number[] = [];
const unassignedItems = createUnassignedItems({
  db,
  pools: { snapshot: async (_tenantId, poolId) => fixture.snapshots.get(poolId) },
  shares: createEventLoopScheduler(),
  admissionOf: fixture.admissionOf,
  sweepBy: (atMs) => void sweepTimes.push(atMs),
  deadLetters: {
    record: async (_tx, _tenantId, letters) => void deadLettered.push(...letters.map((each) => each.queueItemId)),
    changePool: async (_tx, _tenantId, ids) => assert.deepEqual(ids, []),
  },
  events: recordedEvents() as never,
  wake: (_, poolId) => woken.push(poolId),
});

const itemOf = async ({ tenantId }: StagedPool, id: string) =>
  (
    await db.sql`select pool_id, state, recipient_id, superseded_by_id from all_items where tenant_id = ${tenantId} and id = ${id}`
  )[0]!;

async function depthOf({ tenantId, poolId }: StagedPool): Promise<number> {
  const [row] = await db.sql<{ depth: number }[]>`
    select coalesce(sum(depth), 0)::int as depth from queue_depths where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  return row!.depth;
}

/** A pool and two other pools of the same tenant. */
async function threePools(admission: Parameters<typeof fixture.pool>[0] = {}) {
  const pool = await fixture.pool(admission);
  const { tenantId } = pool;
  return [pool, await fixture.pool({}, { tenantId }), await fixture.pool({}, { tenantId })] as const;
}

const batchOf = ({ tenantId, poolId }: StagedPool, id: string) => ({ tenantId, poolId, ids: [id] });

test("an item that two nodes redirect goes to the first target and is counted once", async () => {
  const [pool, first, second] = await threePools();
  const { id } = await fixture.enqueue(pool);
  await unassignedItems.redirect(batchOf(pool, id), first.poolId, Date.now());
  await unassignedItems.redirect(batchOf(pool, id), second.poolId, Date.now());
  assert.equal((await itemOf(pool, id)).poolId, first.poolId);
  assert.deepEqual([await depthOf(pool), await depthOf(first), await depthOf(second)], [0, 1, 0]);
  assert.deepEqual(woken.splice(0), [first.poolId]);
});

test("an item that another node assigned or redirected in the meantime does not become a dead letter", async () => {
  const [pool, other] = await threePools();
  const { id: given } = await fixture.enqueue(pool);
  await db.sql`update queue_items set recipient_id = 'r' where tenant_id = ${pool.tenantId} and id = ${given}`;
  const { id: sent } = await fixture.enqueue(pool);
  await unassignedItems.redirect(batchOf(pool, sent), other.poolId, Date.now());
  const { id: left } = await fixture.enqueue(pool);
  const ids = [given, sent, left];
  await unassignedItems.deadLetter({ ...batchOf(pool, left), ids }, "no_recipient", 0, Date.now());
  const states = await Promise.all(ids.map(async (id) => (await itemOf(pool, id)).state));
  assert.deepEqual(states, ["ready", "ready", "dead_lettered"]);
  assert.deepEqual(deadLettered, [left]);
});

for (const mode of ["skip", "replace_pending", "cancel_running"] as const) {
  test(`${mode}: a redirected item releases its place, and the next item with its key is admitted`, async () => {
    const [pool, other] = await threePools({ singleton: { ...constraints.singleton, mode } });
    const { id } = await fixture.enqueue(pool);
    await unassignedItems.redirect(batchOf(pool, id), other.poolId, Date.now());
    const next = await fixture.enqueue(pool);
    assert.equal(next.verdict.status, "admitted");
    assert.deepEqual(await itemOf(pool, id), {
      poolId: other.poolId,
      state: "ready",
      recipientId: "",
      supersededById: "",
    });
    assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 1]);
  });
}

test("a redirected item is no longer part of its debounce window", async () => {
  const [pool, other] = await threePools({ debounce: constraints.debounce });
  const { id } = await fixture.enqueue(pool);
  // Only ready items are redirected, not held ones.
  await db.sql`update queue_items set state = 'ready' where tenant_id = ${pool.tenantId} and id = ${id}`;
  await unassignedItems.redirect(batchOf(pool, id), other.poolId, Date.now());
  await fixture.enqueue(pool);
  assert.equal((await itemOf(pool, id)).state, "ready");
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 1]);
});

/** A pool without constraints, and a constrained pool of the same tenant. */
async function constrainedTarget(admission: Parameters<typeof fixture.pool>[0]) {
  const pool = await fixture.pool({});
  return [pool, await fixture.pool(admission, { tenantId: pool.tenantId })] as const;
}

test("a redirected item takes the singleton's place in the target pool", async () => {
  const [pool, other] = await constrainedTarget({ singleton: constraints.singleton });
  const { id } = await fixture.enqueue(pool);
  await unassignedItems.redirect(batchOf(pool, id), other.poolId, Date.now());
  const next = await fixture.enqueue(other);
  assert.deepEqual([next.verdict.status, next.verdict.existingItemId], ["deduplicated", id]);
  // The place is free again when the item ends.
  await fixture.end(other, { id, refs: next.refs });
  assert.equal((await fixture.enqueue(other)).verdict.status, "admitted");
});

test("redirected items that are duplicates in the target pool are superseded by the existing item", async () => {
  const [pool, other] = await constrainedTarget({ singleton: constraints.singleton });
  const ids = [(await fixture.enqueue(pool)).id, (await fixture.enqueue(pool)).id];
  await unassignedItems.redirect({ ...batchOf(pool, ""), ids }, other.poolId, Date.now());
  assert.equal((await itemOf(pool, ids[0]!)).state, "ready");
  assert.deepEqual(await itemOf(pool, ids[1]!), {
    poolId: other.poolId,
    state: "superseded",
    recipientId: "",
    supersededById: ids[0],
  });
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("a redirected item replaces the waiting item of a replace_pending singleton in the target pool", async () => {
  const [pool, other] = await constrainedTarget({ singleton: { ...constraints.singleton, mode: "replace_pending" } });
  const waiting = await fixture.enqueue(other);
  const { id } = await fixture.enqueue(pool);
  await unassignedItems.redirect(batchOf(pool, id), other.poolId, Date.now());
  const { state, supersededById } = await itemOf(other, waiting.id);
  assert.deepEqual([state, supersededById, (await itemOf(pool, id)).state], ["superseded", id, "ready"]);
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("an item that the target pool's throttle rejects becomes a dead letter of that pool", async () => {
  const [pool, other] = await constrainedTarget({ throttle: { ...constraints.throttle, onLimit: "reject" } });
  const ids = [(await fixture.enqueue(pool)).id, (await fixture.enqueue(pool)).id];
  deadLettered.length = 0;
  await unassignedItems.redirect({ ...batchOf(pool, ""), ids }, other.poolId, Date.now());
  const states = await Promise.all(ids.map(async (id) => (await itemOf(pool, id)).state));
  assert.deepEqual(states, ["ready", "dead_lettered"]);
  assert.deepEqual(deadLettered, [ids[1]]);
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("a redirected item waits in the target pool's debounce window, and a sweep is scheduled for its end", async () => {
  const [pool, other] = await constrainedTarget({ debounce: constraints.debounce });
  const { id } = await fixture.enqueue(pool);
  const nowMs = Date.now();
  sweepTimes.length = 0;
  await unassignedItems.redirect(batchOf(pool, id), other.poolId, nowMs);
  assert.equal((await itemOf(pool, id)).state, "held");
  assert.deepEqual(sweepTimes, [nowMs + constraints.debounce.periodS * 1000]);
});

test("redirected items respect the concurrency limit of the target pool", async () => {
  const [pool, other] = await constrainedTarget({ concurrency: constraints.concurrency });
  const ids = [(await fixture.enqueue(pool)).id, (await fixture.enqueue(pool)).id];
  await unassignedItems.redirect({ ...batchOf(pool, ""), ids }, other.poolId, Date.now());
  assert.deepEqual(await fixture.lease(other, 2), [ids[0]]);
});
