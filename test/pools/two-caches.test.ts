import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CreatePoolRequestSchema, UpdatePoolRequestSchema } from "../../gen/service/api/pool_pb.ts";
import { createPools, recipientLoadStore } from "../../src/modules/routing/pools/index.ts";
import { closeEmptyQueue } from "../../src/modules/routing/queues/index.ts";
import { createEnvironments } from "../../src/modules/tenancy/environments/index.ts";
import { createSignals, createTenantChanges, openDatabase } from "../../src/platform/db/index.ts";
import { urlRefusal } from "../../src/platform/egress/index.ts";
import { freshTenant, perform, recordedEvents } from "../harness/context.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

const { url } = await freshDatabase();
const events = recordedEvents();

/** The module on one of several nodes, with its own signals and changes over the shared database. */
async function startNode() {
  const db = openDatabase(url, { maxConnections: 5 });
  const signals = createSignals(db);
  const changes = createTenantChanges(db, signals);
  await signals.start();
  await changes.start();
  const pools = createPools({
    db,
    changes,
    events,
    loads: recipientLoadStore,
    closeQueue: closeEmptyQueue,
    urlRefusal,
  });
  after(async () => {
    changes.stop();
    await signals.stop();
    await db.close();
  });
  return { db, changes, pools };
}

test("a change on one node is soon visible on another", async () => {
  const [a, b] = [await startNode(), await startNode()];
  const tenantId = freshTenant();
  const production = [{ key: "production", name: "Production", mode: "live" }] as const;
  await createEnvironments({ events, changes: a.changes }).add(a.db.sql, tenantId, production, Date.now());
  const made = await perform(a.db, { tenantId }, a.pools.handlers.pools.createPool, CreatePoolRequestSchema, {
    name: "p",
  });
  const poolId = made.pool!.id;
  assert.equal((await b.pools.snapshot(tenantId, poolId))!.pool.strategy, "weighted_random");
  assert.equal((await b.pools.poolsOf(tenantId)).pools.size, 1);

  const change = { poolId, strategy: "priority" };
  await perform(a.db, { tenantId }, a.pools.handlers.pools.updatePool, UpdatePoolRequestSchema, change);
  assert.equal(
    (await a.pools.snapshot(tenantId, poolId))!.pool.strategy,
    "priority",
    "immediately on the node that changed it",
  );
  await until(async () => (await b.pools.snapshot(tenantId, poolId))!.pool.strategy === "priority");
  const [ours, theirs] = [await a.pools.snapshot(tenantId, poolId), await b.pools.snapshot(tenantId, poolId)];
  assert.equal(ours!.digest, theirs!.digest);
});
