import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TaskEvent } from "../index.ts";
import { addTask, newTenant, standInEngine, startNode, storedTask } from "../testing/task-fixture.ts";

const db = await testDatabase();
const { engine, events } = standInEngine(db);
const node = await startNode(db, engine);
const otherNode = await startNode(db, engine);

const codesOf = (id: string) =>
  events.flatMap((event: TaskEvent) => (event.taskId === id && event.kind === "attempt_lost" ? [event.code] : []));

test("an expired lease ends its attempt with the reason, once, and a held one stays", async () => {
  const tenant = await newTenant(db);
  const [timedOut, silent, lost, held] = [
    await addTask(db, tenant, { heartbeatMs: 1000, attemptMs: 1000 }),
    await addTask(db, tenant, { heartbeatMs: 1000 }),
    await addTask(db, tenant),
    await addTask(db, tenant, { heartbeatMs: 30_000 }),
  ];
  await node.poll(tenant);
  await db.sql`
    update workflow_tasks set lease_until = now() - interval '1 second',
      attempt_until = case when id = ${timedOut} then now() - interval '1 second' else attempt_until end
    where tenant_id = ${tenant.tenantId} and id <> ${held}`;
  await Promise.all([node.tasks.sweeper.sweep(), otherNode.tasks.sweeper.sweep()]);
  assert.deepEqual([timedOut, silent, lost, held].map(codesOf), [
    ["attempt_timeout"],
    ["heartbeat_timeout"],
    ["worker_lost"],
    [],
  ]);
  assert.equal((await storedTask(db, held))!.state, "leased");
  assert.equal((await storedTask(db, lost))!.attempt, 2);
});

test("leases that the engine calls over or cannot end do not hold up others", async () => {
  const tenant = await newTenant(db);
  const [stale, broken] = [await addTask(db, tenant), await addTask(db, tenant)];
  const ended: string[] = [];
  const stubborn = await startNode(db, {
    async apply(_tenantId, _runId, { taskId }) {
      ended.push(taskId);
      if (taskId === broken) throw new Error("broken");
      return "stale";
    },
  });
  await node.poll(tenant);
  await db.sql`
    update workflow_tasks set lease_until = now() - interval '1 second' where tenant_id = ${tenant.tenantId}`;
  await stubborn.tasks.sweeper.sweep();
  await stubborn.tasks.sweeper.sweep();
  assert.deepEqual(ended.toSorted(), [stale, broken].toSorted());
});

test("a started sweeper ends a lease by itself, and stops", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant, { attemptMs: 30 });
  await node.poll(tenant);
  node.tasks.sweeper.start();
  const waiting = node.poll(tenant, { waitS: 20 });
  const [task] = await waiting;
  assert.deepEqual([task!.taskId, task!.attempt], [id, 2]);
  await node.tasks.sweeper.stop();
  assert.equal(codesOf(id)[0], "attempt_timeout");
});

test("workers that were not seen for a day are deleted", async () => {
  const tenant = await newTenant(db);
  await node.poll(tenant, { workerId: "old" });
  await node.poll(tenant, { workerId: "new" });
  await node.tasks.idle();
  await db.sql`update workflow_workers set seen_at = now() - interval '2 days' where worker_id = 'old'`;
  const names = async () =>
    (
      await db.sql<{ workerId: string }[]>`
      select worker_id from workflow_workers where tenant_id = ${tenant.tenantId}`
    ).map(({ workerId }) => workerId);
  otherNode.tasks.sweeper.start();
  await until(names, ({ length }) => length === 1);
  await otherNode.tasks.sweeper.stop();
  assert.deepEqual(await names(), ["new"]);
});
