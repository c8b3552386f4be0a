import assert from "node:assert/strict";
import { test } from "node:test";
import { recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { createEventLoopShares } from "../../../platform/scheduling/index.ts";
import { admissionStage, constraints, type StagedPool } from "./testing/admission-stage.ts";
import { createLeftovers } from "./unassigned-items.ts";

const db = await testDatabase();
const stage = admissionStage(db);
const buried: string[] = [];
const woken: string[] = [];
const expected: number[] = [];
const leftovers = createLeftovers({
  db,
  pools: { snapshot: async (_tenantId, poolId) => stage.snapshots.get(poolId) },
  shares: createEventLoopShares(),
  admissionOf: stage.admissionOf,
  expect: (atMs) => void expected.push(atMs),
  deadLetters: {
    record: async (_tx, _tenantId, letters) => void buried.push(...letters.map((each) => each.queueItemId)),
  },
  events: recordedEvents() as never,
  wake: (_, poolId) => woken.push(poolId),
});

const itemOf = async ({ tenantId }: StagedPool, id: string) =>
  (
    await db.sql`select pool_id, state, recipient_id, survivor_id from queue_items where tenant_id = ${tenantId} and id = ${id}`
  )[0]!;

async function depthOf({ tenantId, poolId }: StagedPool): Promise<number> {
  const [row] = await db.sql<{ depth: number }[]>`
    select coalesce(sum(depth), 0)::int as depth from queue_depths where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  return row!.depth;
}

/** A pool, and two others of its tenant. */
async function threePools(admission: Parameters<typeof stage.pool>[0] = {}) {
  const pool = await stage.pool(admission);
  const { tenantId } = pool;
  return [pool, await stage.pool({}, { tenantId }), await stage.pool({}, { tenantId })] as const;
}

const leftover = ({ tenantId, poolId }: StagedPool, id: string) => ({ tenantId, poolId, ids: [id] });

test("an item that two nodes send on goes where the first one sends it, and is counted once", async () => {
  const [pool, first, second] = await threePools();
  const { id } = await stage.enqueue(pool);
  await leftovers.sendOn(leftover(pool, id), first.poolId, Date.now());
  await leftovers.sendOn(leftover(pool, id), second.poolId, Date.now());
  assert.equal((await itemOf(pool, id)).poolId, first.poolId);
  assert.deepEqual([await depthOf(pool), await depthOf(first), await depthOf(second)], [0, 1, 0]);
  assert.deepEqual(woken.splice(0), [first.poolId]);
});

test("an item that another node gave to somebody or sent on meanwhile does not become a dead letter", async () => {
  const [pool, other] = await threePools();
  const { id: given } = await stage.enqueue(pool);
  await db.sql`update queue_items set recipient_id = 'r' where tenant_id = ${pool.tenantId} and id = ${given}`;
  const { id: sent } = await stage.enqueue(pool);
  await leftovers.sendOn(leftover(pool, sent), other.poolId, Date.now());
  const { id: left } = await stage.enqueue(pool);
  const ids = [given, sent, left];
  await leftovers.bury({ ...leftover(pool, left), ids }, "no_recipient", 0, Date.now());
  const states = await Promise.all(ids.map(async (id) => (await itemOf(pool, id)).state));
  assert.deepEqual(states, ["ready", "ready", "dead_lettered"]);
  assert.deepEqual(buried, [left]);
});

for (const mode of ["skip", "replace_pending", "cancel_running"] as const) {
  test(`${mode}: an item that was sent on to another pool has left its place, and the next one with its key comes in beside it`, async () => {
    const [pool, other] = await threePools({ singleton: { ...constraints.singleton, mode } });
    const { id } = await stage.enqueue(pool);
    await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
    const next = await stage.enqueue(pool);
    assert.equal(next.verdict.status, "admitted");
    assert.deepEqual(await itemOf(pool, id), { poolId: other.poolId, state: "ready", recipientId: "", survivorId: "" });
    assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 1]);
  });
}

test("a debounced item that was sent on to another pool is no part of its window any more", async () => {
  const [pool, other] = await threePools({ debounce: constraints.debounce });
  const { id } = await stage.enqueue(pool);
  // What is held is not sent on; one that is ready is.
  await db.sql`update queue_items set state = 'ready' where tenant_id = ${pool.tenantId} and id = ${id}`;
  await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
  await stage.enqueue(pool);
  assert.equal((await itemOf(pool, id)).state, "ready");
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 1]);
});

/** A pool without constraints, and one of the same tenant with some. */
async function constrainedTarget(admission: Parameters<typeof stage.pool>[0]) {
  const pool = await stage.pool({});
  return [pool, await stage.pool(admission, { tenantId: pool.tenantId })] as const;
}

test("an item that is sent on takes the singleton's place in the other pool", async () => {
  const [pool, other] = await constrainedTarget({ singleton: constraints.singleton });
  const { id } = await stage.enqueue(pool);
  await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
  const next = await stage.enqueue(other);
  assert.deepEqual([next.verdict.status, next.verdict.existingItemId], ["deduplicated", id]);
  // The place is free again when the item ends.
  await stage.end(other, { id, refs: next.refs });
  assert.equal((await stage.enqueue(other)).verdict.status, "admitted");
});

test("items that are duplicates in the other pool end in favour of the one that is there, and only one of several stays", async () => {
  const [pool, other] = await constrainedTarget({ singleton: constraints.singleton });
  const ids = [(await stage.enqueue(pool)).id, (await stage.enqueue(pool)).id];
  await leftovers.sendOn({ ...leftover(pool, ""), ids }, other.poolId, Date.now());
  assert.equal((await itemOf(pool, ids[0]!)).state, "ready");
  assert.deepEqual(await itemOf(pool, ids[1]!), {
    poolId: other.poolId,
    state: "superseded",
    recipientId: "",
    survivorId: ids[0],
  });
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("an item that is sent on replaces the one that waits in the other pool, where the singleton says so", async () => {
  const [pool, other] = await constrainedTarget({ singleton: { ...constraints.singleton, mode: "replace_pending" } });
  const waiting = await stage.enqueue(other);
  const { id } = await stage.enqueue(pool);
  await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
  const { state, survivorId } = await itemOf(other, waiting.id);
  assert.deepEqual([state, survivorId, (await itemOf(pool, id)).state], ["superseded", id, "ready"]);
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("an item that the other pool's throttle rejects becomes a dead letter of that pool", async () => {
  const [pool, other] = await constrainedTarget({ throttle: { ...constraints.throttle, onLimit: "reject" } });
  const ids = [(await stage.enqueue(pool)).id, (await stage.enqueue(pool)).id];
  buried.length = 0;
  await leftovers.sendOn({ ...leftover(pool, ""), ids }, other.poolId, Date.now());
  const states = await Promise.all(ids.map(async (id) => (await itemOf(pool, id)).state));
  assert.deepEqual(states, ["ready", "dead_lettered"]);
  assert.deepEqual(buried, [ids[1]]);
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [0, 1]);
});

test("an item that is sent on waits in the other pool's debounce window, and whoever sweeps is told until when", async () => {
  const [pool, other] = await constrainedTarget({ debounce: constraints.debounce });
  const { id } = await stage.enqueue(pool);
  const nowMs = Date.now();
  expected.length = 0;
  await leftovers.sendOn(leftover(pool, id), other.poolId, nowMs);
  assert.equal((await itemOf(pool, id)).state, "held");
  assert.deepEqual(expected, [nowMs + constraints.debounce.periodS * 1000]);
});

test("no more items that are sent on are worked on at once than the other pool's concurrency group allows", async () => {
  const [pool, other] = await constrainedTarget({ concurrency: constraints.concurrency });
  const ids = [(await stage.enqueue(pool)).id, (await stage.enqueue(pool)).id];
  await leftovers.sendOn({ ...leftover(pool, ""), ids }, other.poolId, Date.now());
  assert.deepEqual(await stage.handOut(other, 2), [ids[0]]);
});
