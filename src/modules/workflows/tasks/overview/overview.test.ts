import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GetWorkflowTaskRequestSchema,
  ListWorkflowQueuesRequestSchema,
  ListWorkflowTasksRequestSchema,
} from "../../../../../gen/service/api/workflow_task_pb.ts";
import { type ContextChoice, failsWith, perform, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { valueToJson } from "../../../../platform/protojson/index.ts";
import { addTask, newTenant, startNode, type TestTenant } from "../testing/task-fixture.ts";

const db = await testDatabase();
const node = await startNode(db);
const { handlers } = node;

const list = (choice: ContextChoice, request = {}) =>
  perform(db, choice, handlers.listWorkflowTasks, ListWorkflowTasksRequestSchema, request);
const get = (choice: ContextChoice, taskId: string) =>
  perform(db, choice, handlers.getWorkflowTask, GetWorkflowTaskRequestSchema, { taskId });
const queues = async (choice: ContextChoice, request = {}) =>
  (await perform(db, choice, handlers.listWorkflowQueues, ListWorkflowQueuesRequestSchema, request)).queues;
const idsOf = ({ tasks }: { tasks: readonly { id: string }[] }) => tasks.map(({ id }) => id);

/** Polls for something else, so that the worker is seen. */
async function showWorker(tenant: TestTenant, request: Parameters<typeof node.poll>[1]): Promise<void> {
  await node.poll(tenant, request);
  await node.tasks.idle();
}

test("tasks are listed page by page with their filters, without inputs and tokens", async () => {
  const tenant = await newTenant(db);
  const added = [];
  for (let i = 0; i < 5; i++) added.push(await addTask(db, tenant, { queue: i % 2 ? "odd" : "q" }));
  const inSandbox = await addTask(db, tenant, { environmentId: tenant.sandbox });
  const first = await list(tenant, { pageSize: 4 });
  assert.equal(first.totalSize, 6);
  const second = await list(tenant, { pageSize: 4, pageToken: first.nextPageToken });
  assert.deepEqual([...idsOf(first), ...idsOf(second)], [...added, inSandbox]);
  assert.equal(first.tasks[0]!.input, undefined);
  assert.deepEqual(idsOf(await list(tenant, { queue: "odd" })), [added[1], added[3]]);
  assert.deepEqual(idsOf(await list(tenant, { environmentId: tenant.sandbox })), [inSandbox]);
  assert.deepEqual(idsOf(await list(tenant, { runId: first.tasks[2]!.runId })), [added[2]]);
  const [leased] = await node.poll(tenant, { slots: 1 });
  assert.deepEqual(idsOf(await list(tenant, { state: "leased" })), [leased!.taskId]);
  assert.equal(JSON.stringify(await list(tenant, { state: "leased" }), replacer).includes(leased!.token), false);
});

const replacer = (_key: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

test("a task is shown with its input; another tenant's and a forbidden environment's are not", async () => {
  const [tenant, stranger] = [await newTenant(db), await newTenant(db)];
  const id = await addTask(db, tenant, { input: { a: 1 } });
  const { task } = await get(tenant, id);
  assert.deepEqual(valueToJson(task!.input!), { a: 1 });
  assert.deepEqual([task!.state, task!.waitReason], ["ready", "no_worker"]);
  await assert.rejects(get(stranger, id), failsWith("NOT_FOUND"));
  const outside = { ...tenant, environmentMode: "non_production_only" } as const;
  await assert.rejects(get(outside, id), failsWith("PERMISSION_DENIED"));
  assert.deepEqual(idsOf(await list(outside)), []);
  assert.deepEqual(await queues(outside), []);
  assert.deepEqual(idsOf(await list(stranger)), []);
  assert.deepEqual(await queues(stranger), []);
});

test("a ready task is shown as incompatible while only workers that cannot run it poll its queue", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant, { versionRange: "^2.0.0" });
  const other = await addTask(db, tenant, { queue: "another" });
  await showWorker(tenant, { capabilities: [{ type: "t", versions: ["1.0.0"] }] });
  const { task } = await get(tenant, id);
  assert.deepEqual([task!.state, task!.waitReason, task!.attempt], ["incompatible", "no_capable_worker", 1]);
  assert.deepEqual(idsOf(await list(tenant, { state: "incompatible" })), [id]);
  assert.deepEqual(idsOf(await list(tenant, { state: "ready" })), [other]);
  const capable = { workerId: "worker-2", capabilities: [{ type: "t", versions: ["2.3.0"] }] };
  const [leased] = await node.poll(tenant, capable);
  assert.deepEqual([leased!.taskId, leased!.attempt], [id, 1]);
});

test("a refused task is shown as incompatible until a worker of another build is seen", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant);
  const [leased] = await node.poll(tenant);
  await node.fail(tenant, { failures: [{ taskId: id, token: leased!.token, code: "incompatible" }] });
  const shown = (await get(tenant, id)).task!;
  assert.deepEqual([shown.state, shown.refusedBy, shown.workerId], ["incompatible", ["build-1"], ""]);
  assert.deepEqual(idsOf(await list(tenant, { state: "incompatible" })), [id]);
  // This worker is known by its row only, so that it does not take the task.
  await db.sql`
    insert into workflow_workers select tenant_id, environment_id, queue, 'worker-2', 'build-2', protocol, capabilities,
      first_seen_at, seen_at, now() + interval '1 hour' from workflow_workers where tenant_id = ${tenant.tenantId}`;
  assert.deepEqual(idsOf(await list(tenant, { state: "ready" })), [id]);
  assert.deepEqual(idsOf(await list(tenant, { state: "incompatible" })), []);
  assert.equal((await get(tenant, id)).task!.waitReason, "workers_busy");
});

test("a queue shows its counts, its workers and the reason why tasks wait", async () => {
  const tenant = await newTenant(db);
  for (let i = 0; i < 3; i++) await addTask(db, tenant);
  await addTask(db, tenant, { type: "unknown" });
  await addTask(db, tenant, { readyInMs: 60_000 });
  const [before] = await queues(tenant);
  assert.deepEqual(
    [before!.queue, before!.ready, before!.leased, before!.incompatible, before!.waitReason, before!.workers.length],
    ["q", 5, 0, 0, "no_worker", 0],
  );
  assert.ok(before!.oldestReadyAgeS >= 0.9 && before!.oldestReadyAgeS < 60);
  await showWorker(tenant, { slots: 1, capabilities: [{ type: "t", versions: ["1.0.0"] }] });
  const [after] = await queues(tenant);
  assert.deepEqual(
    [after!.ready, after!.leased, after!.incompatible, after!.waitReason, after!.countsCapped],
    [3, 1, 1, "workers_busy", false],
  );
  const [worker] = after!.workers;
  assert.deepEqual(
    [
      worker!.workerId,
      worker!.buildId,
      worker!.protocol,
      worker!.capabilities[0]!.type,
      worker!.capabilities[0]!.versions,
    ],
    ["worker-1", "build-1", 1, "t", ["1.0.0"]],
  );
});

test("a queue whose workers cannot run its tasks says so, and one without waiting tasks has no reason", async () => {
  const tenant = await newTenant(db);
  await addTask(db, tenant, { queue: "b", type: "unknown" });
  await showWorker(tenant, { queue: "b" });
  await showWorker(tenant, { queue: "a" });
  await addTask(db, tenant, { queue: "c" });
  await node.poll(tenant, { queue: "c" });
  await db.sql`delete from workflow_workers where queue = 'c'`;
  await addTask(db, tenant, { queue: "c" });
  assert.deepEqual(
    (await queues(tenant)).map(({ queue, waitReason }) => [queue, waitReason]),
    [
      ["a", ""],
      ["b", "no_capable_worker"],
      ["c", "workers_busy"],
    ],
  );
  assert.deepEqual(
    (await queues(tenant, { queue: "b" })).map(({ queue }) => queue),
    ["b"],
  );
  const page = await perform(db, tenant, handlers.listWorkflowQueues, ListWorkflowQueuesRequestSchema, { pageSize: 2 });
  assert.equal(page.totalSize, 3);
  assert.deepEqual(
    (await queues(tenant, { pageSize: 2, pageToken: page.nextPageToken })).map(({ queue }) => queue),
    ["c"],
  );
});

test("a worker that has not polled for a while does not count, and heartbeats show that it is alive", async () => {
  const tenant = await newTenant(db);
  await addTask(db, tenant, { heartbeatMs: 30_000 });
  const second = await startNode(db);
  const [task] = await node.poll(tenant, { slots: 1 });
  await node.tasks.idle();
  await db.sql`
    update workflow_workers set present_until = now() where tenant_id = ${tenant.tenantId}`;
  const countWorkers = async () => (await queues(tenant))[0]!.workers.length;
  assert.equal(await countWorkers(), 0);
  await second.heartbeat(tenant, { tasks: [{ taskId: task!.taskId, token: task!.token }] });
  await second.tasks.idle();
  assert.equal(await countWorkers(), 1);
});

test("a worker that disconnects during a poll no longer counts, and counts again when it polls", async () => {
  const tenant = await newTenant(db);
  const disconnect = new AbortController();
  await addTask(db, tenant, { type: "unknown" });
  const polled = node.poll({ ...tenant, signal: disconnect.signal }, { waitS: 20 });
  const reason = async () => (await queues(tenant))[0]!.waitReason;
  await until(async () => (await reason()) === "no_capable_worker");
  disconnect.abort();
  assert.deepEqual(await polled, []);
  await node.tasks.idle();
  assert.equal(await reason(), "no_worker");
  await showWorker(tenant, {});
  assert.equal(await reason(), "no_capable_worker");
});

test("an unchanged worker is written once in a few seconds, a changed one at once", async () => {
  const tenant = await newTenant(db);
  const written = async () =>
    (
      await db.sql<{ xmin: string; buildId: string }[]>`
      select xmin::text, build_id from workflow_workers where tenant_id = ${tenant.tenantId}`
    )[0]!;
  await showWorker(tenant, {});
  const first = await written();
  await showWorker(tenant, {});
  assert.deepEqual(await written(), first);
  await showWorker(tenant, { buildId: "build-2" });
  assert.equal((await written()).buildId, "build-2");
});

test("the tasks of a run tell why they wait", async () => {
  const tenant = await newTenant(db);
  const id = await addTask(db, tenant);
  const { task } = await get(tenant, id);
  const found = await node.tasks.tasksOfRun(db.sql, tenant.tenantId, task!.runId, 10);
  assert.deepEqual(
    found.map(({ stepKey, state, reason }) => [stepKey, state, reason]),
    [["step", "ready", "no_worker"]],
  );
});
