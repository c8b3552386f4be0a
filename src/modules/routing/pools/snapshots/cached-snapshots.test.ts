import assert from "node:assert/strict";
import { test } from "node:test";
import { SetPoolEnabledRequestSchema } from "../../../../../gen/service/api/pool_pb.ts";
import { perform } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createCountingNode } from "../testing/counting-node.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";

const { db, handlers, newTenant, createPool, createRecipient } = await createPoolFixture();
const node = (limits = {}) => createCountingNode(db, limits);

async function newPool() {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  return { tenantId, id };
}
async function setEnabled(tenantId: TenantId, poolId: string, enabled: boolean) {
  await perform(db, { tenantId }, handlers.pools.setPoolEnabled, SetPoolEnabledRequestSchema, { poolId, enabled });
}

test("the active pools of a tenant are returned oldest first; only changed pools are read again", async () => {
  const tenantId = await newTenant();
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await createPool({ tenantId })).id);
  await setEnabled(tenantId, ids[1]!, false);
  const { poolsOf, snapshot, queries, announce, clock } = node();
  const all = await poolsOf(tenantId);
  assert.deepEqual([...all.pools.keys()], [ids[0], ids[2]]);
  assert.equal(poolsOf(tenantId), all);
  assert.equal(snapshot(tenantId, ids[0]!), all.pools.get(ids[0] as never), "each pool is cached individually too");
  assert.deepEqual(queries, { revisions: 1, loads: 1 });
  await setEnabled(tenantId, ids[1]!, true);
  await setEnabled(tenantId, ids[2]!, false);
  announce(tenantId);
  clock.nowMs += 1000;
  const changed = await poolsOf(tenantId);
  assert.deepEqual([...changed.pools.keys()], [ids[0], ids[1]]);
  assert.equal(changed.pools.get(ids[0] as never), all.pools.get(ids[0] as never));
  assert.deepEqual(queries, { revisions: 2, loads: 2 });
  announce(tenantId);
  await poolsOf(tenantId);
  assert.deepEqual(queries, { revisions: 3, loads: 2 });
  assert.deepEqual([...(await poolsOf(await newTenant())).pools.keys()], []);
});

test("a pool that is disabled while the pools of its tenant are read is not returned", async () => {
  const { tenantId, id } = await newPool();
  const { poolsOf, beforeLoad } = node();
  beforeLoad(() => setEnabled(tenantId, id, false));
  assert.equal((await poolsOf(tenantId)).pools.size, 0);
});

test("the list of pools is cached no longer than each of its pools", async () => {
  const [a, b] = [await newPool(), await newPool()];
  const { poolsOf, snapshot } = node({ recordsMax: 1 });
  const all = await poolsOf(a.tenantId);
  assert.equal(poolsOf(a.tenantId), all);
  await snapshot(b.tenantId, b.id);
  assert.ok(poolsOf(a.tenantId) instanceof Promise);
});

test("the cache is bounded: the least recently used pool is evicted first", async () => {
  const owned = [await newPool(), await newPool(), await newPool()];
  const [a, b, c] = owned as [(typeof owned)[0], (typeof owned)[0], (typeof owned)[0]];
  const { snapshot, queries } = node({ recordsMax: 2 });
  for (const { tenantId, id } of [a, b]) await snapshot(tenantId, id);
  await snapshot(c.tenantId, c.id);
  assert.equal(queries.loads, 3);
  assert.ok(!(snapshot(c.tenantId, c.id) instanceof Promise), "the newest is cached");
  assert.ok(snapshot(a.tenantId, a.id) instanceof Promise, "the oldest is not");
});

test("a pool larger than the cache is still returned", async () => {
  const { tenantId, id } = await newPool();
  await createRecipient({ tenantId }, id);
  const { snapshot, poolsOf } = node({ recordsMax: 1 });
  for (let n = 0; n < 2; n++) assert.equal((await snapshot(tenantId, id))!.recipients.length, 1);
  assert.equal((await poolsOf(tenantId)).pools.size, 1);
});

test("after a change, the previous list of pools is returned while it is read again", async () => {
  const { tenantId, id } = await newPool();
  const { poolsOf, hold, announce } = node();
  const before = await poolsOf(tenantId);
  await setEnabled(tenantId, id, false);
  await createPool({ tenantId });
  announce(tenantId);
  const held = hold();
  assert.equal(poolsOf(tenantId), before);
  await held.read;
  assert.equal(poolsOf(tenantId), before);
  held.release();
  await until(() => poolsOf(tenantId) !== before);
  assert.ok(!(await poolsOf(tenantId)).pools.has(id as never));
});

test("the state of the least recently used tenants is dropped, and their cached pools are only verified again", async () => {
  const [a, b, c] = [await newPool(), await newPool(), await newPool()];
  const { snapshot, queries } = node({ tenantsMax: 2 });
  const known = new Map<string, unknown>();
  for (const { tenantId, id } of [a, b, c]) known.set(id, await snapshot(tenantId, id));
  assert.equal(snapshot(c.tenantId, c.id), known.get(c.id), "the newest is kept");
  const before = { ...queries };
  const again = snapshot(a.tenantId, a.id);
  assert.ok(again instanceof Promise, "the oldest is dropped");
  assert.equal(await again, known.get(a.id));
  assert.deepEqual(queries, { revisions: before.revisions + 1, loads: before.loads });
  assert.equal(snapshot(a.tenantId, a.id), known.get(a.id));
});

test("a change is seen although the state of its tenant was dropped while the pool was read", async () => {
  const [a, b] = [await newPool(), await newPool()];
  const { snapshot, poolsOf, hold, announce } = node({ tenantsMax: 1 });
  const held = hold();
  const reading = snapshot(a.tenantId, a.id);
  await held.read;
  for (let n = 0; n < 2; n++) await snapshot(b.tenantId, b.id);
  await setEnabled(a.tenantId, a.id, false);
  announce(a.tenantId);
  held.release();
  assert.equal((await reading)!.pool.status, "active");
  assert.equal((await snapshot(a.tenantId, a.id))!.pool.status, "disabled");
  assert.equal((await poolsOf(a.tenantId)).pools.size, 0);
});

test("a list of pools is not current although its tenant's state was dropped while it was read", async () => {
  const [a, b] = [await newPool(), await newPool()];
  const { snapshot, poolsOf, hold, announce } = node({ tenantsMax: 1 });
  const held = hold();
  const reading = poolsOf(a.tenantId);
  await held.read;
  await snapshot(b.tenantId, b.id);
  await setEnabled(a.tenantId, a.id, false);
  announce(a.tenantId);
  held.release();
  assert.equal((await reading).pools.size, 1);
  assert.equal((await poolsOf(a.tenantId)).pools.size, 0);
});
