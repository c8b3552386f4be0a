import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { newTenant, type TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startWorkflowNode, type WorkflowNode } from "./workflow-node.ts";

let database: TestDatabase;
let node: WorkflowNode;
before(async () => {
  database = await freshDatabase();
  node = await startWorkflowNode(database.url);
});
after(async () => {
  await node.stop();
  await database.drop();
});

const task = (id: string, attempts = 3) => ({
  id,
  task: { queue: id, type: "t" },
  retry: { max_attempts: attempts, initial: "1ms", max: "1ms" },
});
const both = (left: object, right: object) => ({ id: "both", parallel: { branches: { l: [left], r: [right] } } });

async function startRun(...steps: object[]): Promise<{ tenant: TestTenant; runId: string }> {
  const tenant = await newTenant(node.db);
  await node.publish(tenant, { dsl: "1", key: "k", timeout: "1d", steps });
  const { run } = await node.start(tenant, { definition: "k" });
  return { tenant, runId: run!.id };
}

async function poll(tenant: TestTenant, queue: string) {
  const worker = { queue, workerId: "w", buildId: "1", slots: 1, capabilities: [{ type: "t" }] };
  return (await node.poll(tenant, worker)).tasks[0];
}

const tasksOf = async ({ tenantId }: TestTenant) =>
  (await database.sql`select step_key as step, state from workflow_tasks where tenant_id = ${tenantId}`).map(
    ({ step, state }) => `${step} ${state}`,
  );

test("cancelling a paused run deletes the tasks that were held back", async () => {
  const { tenant, runId } = await startRun(task("a"));
  await node.pause(tenant, { runId });
  assert.deepEqual(await tasksOf(tenant), ["a held"]);
  assert.equal(await poll(tenant, "a"), undefined);
  assert.equal((await node.cancel(tenant, { runId })).run!.status, "cancelled");
  assert.deepEqual(await tasksOf(tenant), []);
});

test("resuming a run deletes the held tasks that end with the resumption", async () => {
  // The result that arrived during the pause fails the block, which cancels the held task.
  const { tenant, runId } = await startRun(both(task("a", 1), task("b")));
  const leased = (await poll(tenant, "a"))!;
  await node.pause(tenant, { runId });
  await node.fail(tenant, { failures: [{ taskId: leased.taskId, token: leased.token, code: "broken" }] });
  assert.deepEqual((await tasksOf(tenant)).toSorted(), ["a leased", "b held"]);
  assert.equal((await node.resume(tenant, { runId })).run!.status, "failed");
  assert.deepEqual(await tasksOf(tenant), []);
});

test("a result that arrives during a pause is the only outcome of its attempt, even if the lease expires", async () => {
  const { tenant, runId } = await startRun(task("a"));
  const { taskId, token } = (await poll(tenant, "a"))!;
  await node.pause(tenant, { runId });
  const report = async (text: string) =>
    (await node.complete(tenant, { completions: [{ taskId, token, output: fromJson(ValueSchema, text) }] }))
      .results[0]!;
  assert.equal((await report("first")).status, "completed");
  const { revision } = await node.get(tenant, runId);
  await database.sql`
    update workflow_tasks set lease_until = now() - interval '1 second' where tenant_id = ${tenant.tenantId}`;
  await node.sweepLeases();
  await node.sweepLeases();
  await report("second");
  assert.equal((await node.get(tenant, runId)).revision, revision);
  const { run } = await node.resume(tenant, { runId });
  assert.deepEqual([run!.status, toJson(ValueSchema, run!.output!)], ["succeeded", "first"]);
});
