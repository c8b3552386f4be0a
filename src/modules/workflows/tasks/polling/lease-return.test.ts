import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { addTask, newTenant, startNode, storedTask } from "../testing/task-fixture.ts";
import { createLeaseReturn } from "./lease-return.ts";

const db = await testDatabase();
const node = await startNode(db);
const woken: string[] = [];
const leases = createLeaseReturn({
  db,
  log: { warn: () => {} },
  wake: ({ queue }) => void woken.push(queue),
  onReturned: () => {},
});
after(() => leases.stop());

async function leaseOne() {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant, { heartbeatMs: 60_000 });
  const [task] = await node.poll(tenant);
  return { tenantId: tenant.tenantId, id, token: task!.token };
}

test("a task that is given back is ready with the same attempt, and the polls of its queue are woken", async () => {
  const lease = await leaseOne();
  woken.length = 0;
  await leases.giveBack([lease, { ...lease, token: "another" }]);
  const { state, attempt, leaseToken, workerId, leaseUntil } = (await storedTask(db, lease.id))!;
  assert.deepEqual([state, attempt, leaseToken, workerId, leaseUntil], ["ready", 1, "", "", null]);
  assert.deepEqual(woken, ["q"]);
});

test("a task is given back later if the database fails now", async () => {
  const lease = await leaseOne();
  await db.sql`alter table workflow_tasks rename to renamed`;
  await leases.giveBack([lease]);
  await db.sql`alter table renamed rename to workflow_tasks`;
  await leases.idle();
  assert.equal((await storedTask(db, lease.id))!.state, "ready");
});

test("a task whose commit was in progress is given back when it is stored", async () => {
  const lease = await leaseOne();
  await db.sql`update workflow_tasks set lease_token = 'not stored' where id = ${lease.id}`;
  leases.giveBackLater(lease);
  await db.sql`update workflow_tasks set lease_token = ${lease.token} where id = ${lease.id}`;
  await until(async () => (await storedTask(db, lease.id))!.state === "ready");
});

test("a stopped return ends without waiting for delayed ones", async () => {
  const stopping = createLeaseReturn({ db, log: { warn: () => {} }, wake: () => {}, onReturned: () => {} });
  stopping.giveBackLater({ tenantId: "t", id: "i", token: "x" });
  stopping.stop();
  await stopping.idle();
});
