import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { defaultRetry, parseDefinition } from "../../src/modules/workflows/definitions/index.ts";
import { Advance } from "../../src/modules/workflows/runs/domain/engine/advance.ts";
import { createPlan } from "../../src/modules/workflows/runs/domain/engine/plan.ts";
import type { RunEvent } from "../../src/modules/workflows/runs/domain/engine/state.ts";
import { toRunWrite } from "../../src/modules/workflows/runs/run-write-builder.ts";
import { type LiveRun, loadRuns } from "../../src/modules/workflows/runs/storage/run-loader.ts";
import { updateRuns } from "../../src/modules/workflows/runs/storage/run-writer.ts";
import { newTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { untilBlocked } from "../harness/blocked-statements.ts";
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

const document = {
  ...{ dsl: "1", key: "k", timeout: "1d" },
  steps: [{ id: "w", wait_event: { event: "go", timeout: "1d" } }],
};
const plan = createPlan(parseDefinition(document).definition!, "definition", 1, defaultRetry);
const pause: RunEvent = { kind: "pause", by: "ann", reason: "" };
const cancel: RunEvent = { kind: "cancel", by: "ann", reason: "", compensate: false };

function writeOf(run: LiveRun, event: RunEvent) {
  const nowMs = Date.now();
  const context = { nowMs, run: {}, mail: [], newId: () => "id" };
  const advance = new Advance(plan, JSON.parse(run.stateJson), context);
  advance.apply(event);
  return toRunWrite(run, advance, { nowMs, reserve: () => undefined, newMail: [], unread: 0 });
}

test("a batch locks its runs in the order of their ids, whatever it does with them", async () => {
  const tenant = await newTenant(node.db);
  const { tenantId } = tenant;
  await node.publish(tenant, document);
  const ids = [];
  for (let nth = 0; nth < 2; nth++) ids.push((await node.start(tenant, { definition: "k" })).run!.id);
  const [first, second] = (await loadRuns(
    node.db.sql,
    ids.toSorted().map((id) => ({ tenantId, id })),
  )) as [LiveRun, LiveRun];
  const [low, high] = first.id < second.id ? [first, second] : [second, first];
  let written: Promise<ReadonlySet<number>> | undefined;
  await database.sql.begin(async (tx) => {
    await tx`select from workflow_runs where id = ${low.id} for update`;
    // Live runs are updated before ended ones are deleted, so the run with the higher id would come first.
    written = updateRuns(node.db.sql, [writeOf(high, pause), writeOf(low, cancel)], () => assert.fail());
    await untilBlocked(node.db.sql);
    assert.equal((await database.sql`select from workflow_runs where id = ${high.id} for update nowait`).length, 1);
  });
  assert.deepEqual([...(await written!)].toSorted(), [0, 1]);
});
