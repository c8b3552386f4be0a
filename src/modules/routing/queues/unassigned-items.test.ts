import assert from "node:assert/strict";
import { test } from "node:test";
import { recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { admissionStage, constraints, type StagedPool } from "./testing/admission-stage.ts";
import { createLeftovers } from "./unassigned-items.ts";

const db = await testDatabase();
const stage = admissionStage(db);
const buried: string[] = [];
const woken: string[] = [];
const leftovers = createLeftovers({
  db,
  deadLetters: {
    bury: async (_tx, _tenantId, letters) => void buried.push(...letters.map((each) => each.queueItemId)),
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

for (const mode of ["replace_pending", "cancel_running"] as const) {
  test(`${mode}: an item that was sent on to another pool makes way for the next one with its key`, async () => {
    const [pool, other] = await threePools({ singleton: { ...constraints.singleton, mode } });
    const { id } = await stage.enqueue(pool);
    await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
    const isWorkedOn = mode === "cancel_running";
    if (isWorkedOn) assert.deepEqual(await stage.handOut(other), [id]);
    const next = await stage.enqueue(pool);
    assert.equal(next.verdict.status, "admitted");
    assert.equal((await itemOf(pool, id)).state, isWorkedOn ? "cancelled" : "superseded");
    assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 0]);
  });
}

test("a debounced item that was sent on to another pool makes way for the next one with its key", async () => {
  const [pool, other] = await threePools({ debounce: constraints.debounce });
  const { id } = await stage.enqueue(pool);
  // What is held is not sent on; one that is ready is.
  await db.sql`update queue_items set state = 'ready' where tenant_id = ${pool.tenantId} and id = ${id}`;
  await leftovers.sendOn(leftover(pool, id), other.poolId, Date.now());
  const next = await stage.enqueue(pool);
  assert.deepEqual(await itemOf(pool, id), {
    poolId: other.poolId,
    state: "superseded",
    recipientId: "",
    survivorId: next.id,
  });
  assert.deepEqual([await depthOf(pool), await depthOf(other)], [1, 0]);
});
