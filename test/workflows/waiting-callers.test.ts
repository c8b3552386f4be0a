import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fail } from "../../src/errors/index.ts";
import { newTenant, type TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { failsWith } from "../harness/context.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { startWorkflowNode, type WorkflowNode } from "./workflow-node.ts";

let database: TestDatabase;
let node: WorkflowNode;
let tenant: TestTenant;
before(async () => {
  database = await freshDatabase();
  node = await startWorkflowNode(database.url);
  tenant = await newTenant(node.db);
  const steps = [{ id: "w", wait_event: { event: "go", timeout: "1d" } }];
  await node.publish(tenant, { dsl: "1", key: "k", timeout: "1d", steps });
});
after(async () => {
  await node.stop();
  await database.drop();
});

const startRun = async () => (await node.start(tenant, { definition: "k" })).run!.id;

/** Counts the listeners for the end of a run: all so far, and those that still listen. */
function countListeners({ signals }: WorkflowNode, runId: string) {
  const counts = { all: 0, open: 0 };
  const { onWake } = signals;
  signals.onWake = (topic, listener) => {
    const stop = onWake(topic, listener);
    if (!topic.endsWith(runId)) return stop;
    counts.all++;
    counts.open++;
    let stopped = false;
    return () => {
      if (!stopped) counts.open--;
      stopped = true;
      stop();
    };
  };
  return counts;
}

test("a call that waits for the end of a run sleeps until something happens, and then stops listening", async () => {
  const id = await startRun();
  const listeners = countListeners(node, id);
  const startedMs = performance.now();
  const waiting = node.get(tenant, id, 20);
  await until(() => listeners.all > 0);
  for (let reads = 0; reads < 50; reads++) await node.get(tenant, id);
  // A wait ends once a second, in case that a signal was lost.
  const seconds = (performance.now() - startedMs) / 1000;
  assert.ok(listeners.all <= 2 + seconds, `${listeners.all} waits in ${seconds} s`);
  await node.signal(tenant, { runId: id, event: "go" });
  assert.equal((await waiting).status, "succeeded");
  assert.equal(listeners.open, 0);
});

test("a caller that loses its access while it waits does not see how the run ends", async () => {
  const id = await startRun();
  const listeners = countListeners(node, id);
  let allowed = true;
  const recheckAccess = async () => {
    if (!allowed) throw fail("PERMISSION_DENIED");
  };
  const refused = assert.rejects(node.get(tenant, id, 20, { recheckAccess }), failsWith("PERMISSION_DENIED"));
  await until(() => listeners.open > 0);
  allowed = false;
  await node.signal(tenant, { runId: id, event: "go" });
  await refused;
});

test("a stopping node returns runs as they are to callers that wait for their end", async () => {
  const stopping = await startWorkflowNode(database.url);
  const id = await startRun();
  const listeners = countListeners(stopping, id);
  const waiting = stopping.get(tenant, id, 20);
  await until(() => listeners.open > 0);
  stopping.workflows.endWaits();
  assert.equal((await waiting).status, "waiting");
  let waitedMs = 0;
  const waited = (ms: number) => {
    waitedMs += ms;
  };
  assert.equal((await stopping.get(tenant, id, 20, { waited })).status, "waiting");
  assert.equal(waitedMs, 0, "a call during the stop does not wait");
  await stopping.stop();
});
