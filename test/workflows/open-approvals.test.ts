import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { newTenant, type TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { failsWith } from "../harness/context.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { chooser } from "./chooser.ts";
import { patiently, startWorkflowNode, type WorkflowNode } from "./workflow-node.ts";

const nodeCount = 3;

let database: TestDatabase;
let nodes: WorkflowNode[];
let tenant: TestTenant;
before(async () => {
  database = await freshDatabase();
  nodes = await Promise.all(Array.from({ length: nodeCount }, () => startWorkflowNode(database.url)));
  tenant = await newTenant(nodes[0]!.db);
  await nodes[0]!.publish(tenant, board);
});
after(async () => {
  for (const node of nodes) await node.stop();
  await database.drop();
});

/** An approval for each element, beside one that cancels all of them when it is rejected. */
const board = {
  dsl: "1",
  key: "board",
  timeout: "1d",
  steps: [
    {
      id: "both",
      parallel: {
        branches: {
          each: [
            {
              id: "all",
              map: {
                ...{ in: "=input", max_items: 5, on_error: "collect" },
                steps: [{ id: "ask", approval: { by: ["role:admin"], quorum: 2, timeout: "1d", title: "=item" } }],
              },
            },
          ],
          veto: [{ id: "veto", approval: { by: ["role:admin"], timeout: "1d" } }],
        },
      },
    },
    { id: "last", approval: { by: ["role:admin"], timeout: "1d" } },
  ],
};

interface ShownApproval {
  readonly runId: string;
  readonly step: string;
  readonly deciders: readonly string[];
}

/** The approvals that the states of the runs hold. */
const held = () => database.sql<ShownApproval[]>`
  select r.id as "runId", a.key as step, array(
    select d ->> 'by' from json_array_elements(a.value -> 'decisions') d
    union all
    select p -> 'decision' ->> 'by' from json_array_elements(r.state -> 'pending') p where p ->> 'key' = a.key
  ) as deciders
  from workflow_runs r, json_each(r.state -> 'active') a where a.value ->> 's' = 'approval' order by 1, 2`;

/** The approvals that are listed. */
const listed = () => database.sql<ShownApproval[]>`
  select run_id as "runId", step_key as step, decided_by as deciders from workflow_approvals order by 1, 2`;

test("nodes that decide, pause, resume and cancel at the same time leave exactly the approvals that the runs hold", async () => {
  const choose = chooser(1);
  const nodeOf = () => nodes[choose(nodeCount)]!;
  const starts = Array.from({ length: sized(20, 200) }, (_, nth) =>
    nodeOf().start(tenant, { definition: "board", input: fromJson(ValueSchema, [`a${nth}`, "b", "c"]) }),
  );
  const runIds = (await Promise.all(starts)).map(({ run }) => run!.id);
  assert.deepEqual([...(await listed())], [...(await held())]);
  const steps = ["ask[0]", "ask[1]", "ask[2]", "veto", "last"];
  const counts = { open: 0, paused: 0 };
  for (let round = 0; round < 6; round++) {
    const calls = runIds.flatMap((runId) =>
      Array.from({ length: 4 }, async () => {
        const kind = choose(12);
        const node = nodeOf();
        if (kind === 0) return node.pause(tenant, { runId });
        if (kind === 1) return node.resume(tenant, { runId });
        if (kind === 2 && choose(8) === 0) return node.cancel(tenant, { runId });
        const decision = { runId, step: steps[choose(steps.length)]!, approved: choose(10) > 0 };
        return node.decide(tenant, decision, { subject: `person ${choose(4)}`, roles: ["admin"] });
      }).map((call) =>
        call.catch((error) => {
          const isExpected = failsWith("FAILED_PRECONDITION")(error) || failsWith("UNAVAILABLE")(error);
          if (!isExpected) throw error;
        }),
      ),
    );
    await Promise.all(calls);
    const [shown, expected] = [await listed(), await held()];
    assert.deepEqual([...shown], [...expected]);
    counts.open += shown.length;
    const [row] = await database.sql<{ paused: number }[]>`
      select count(*)::int as paused from workflow_runs where status = 'paused'`;
    counts.paused += row!.paused;
  }
  assert.ok(counts.open > 0 && counts.paused > 0, JSON.stringify(counts));
  await Promise.all(
    runIds.map((runId) =>
      nodeOf()
        .cancel(tenant, { runId })
        .catch((error) => {
          if (!failsWith("FAILED_PRECONDITION", /has ended/)(error)) throw error;
        }),
    ),
  );
  assert.deepEqual([...(await listed())], []);
});

test("an event by key reaches the run that has the key now, however often runs with the key end", async () => {
  const wait = { id: "w", wait_event: { event: "go", timeout: "1d" } };
  await nodes[0]!.publish(tenant, { dsl: "1", key: "keyed", timeout: "1d", steps: [wait] });
  const name = { definition: "keyed", runKey: "C-1" };
  let delivered = 0;
  const lanes = nodes.map(async (node) => {
    for (let round = 0; round < 20; round++) {
      await patiently(() => node.start(tenant, name));
      const event = { ...name, event: "go", eventId: "same" };
      const response = await node.signalByKey(tenant, event).catch((error) => {
        // Another node has ended the run, and nobody has started the next one yet.
        if (!failsWith("NOT_FOUND", /C-1/)(error)) throw error;
      });
      if (response !== undefined && !response.duplicate) delivered++;
    }
  });
  await Promise.all(lanes);
  const [row] = await database.sql<{ ended: number; failed: number }[]>`
    select count(*)::int as ended, count(*) filter (where status <> 'succeeded')::int as failed
    from workflow_run_archive where run_key = 'C-1'`;
  assert.deepEqual(row, { ended: delivered, failed: 0 });
  assert.ok(delivered >= 20, String(delivered));
});
