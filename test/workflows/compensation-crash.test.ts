import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { allItems, createRandom } from "../routing/lease-checks.ts";
import {
  call,
  callUntilAnswered,
  type PickNode,
  publish,
  readHistory,
  startSharedCluster,
  untilEnded,
} from "./crash-cluster.ts";
import { startWorkers } from "./crash-worker.ts";

const kills = sized(2, 40);
const retry = { max_attempts: 100, initial: "10ms", factor: 1, max: "50ms" };
// The second test kills the first node once more.
const cluster = await startSharedCluster([kills / 2 + 1, kills / 2]);
afterFile(cluster.stop);
const { nodes, sql } = cluster;
const chance = createRandom(5);
const pick: PickNode = () => nodes[Math.floor(chance() * nodes.length)]!.current;

const timeout = { attempt: "2s" };
const undo = (type: string) => ({ task: { queue: "undo", type }, timeout, with: { run: "=run.id" } });
const routed = (step: string) => ({ route: { pool: "undo-items", attributes: { run: "=run.id", step } } });

test("compensations continue after kills of nodes: each runs once, the last completed step first", async (t) => {
  const first = await pick();
  const { id: poolId } = await call(first, "POST", "/api/pools", { name: "undo-items" });
  await publish(first, {
    ...{ dsl: "1", key: "undo.child", timeout: "1h", retry },
    steps: [{ id: "child_work", task: { queue: "undo", type: "work" }, timeout }],
  });
  await publish(first, {
    ...{ dsl: "1", key: "undo.order", timeout: "1h", retry, on_failure: "compensate" },
    steps: [
      { id: "a", ...undo("work"), compensate: undo("undo") },
      { id: "b", ...routed("b"), compensate: routed("~b") },
      { id: "c", ...undo("work"), compensate: { subworkflow: { key: "undo.child" } } },
      { id: "d", transform: 1, compensate: routed("~d") },
      { id: "e", ...undo("work"), compensate: undo("undo") },
      { id: "broken", fail: { code: "broken" } },
    ],
  });
  const options = { queue: "undo", types: ["work", "undo"], count: 4, chance };
  const workers = startWorkers(pick, { ...options, vanishing: 0.02, failing: 0.05 });
  t.after(() => workers.stop());

  const started: string[] = [];
  let isOver = false;
  const calling = Promise.all(
    Array.from({ length: 6 }, async (_, caller) => {
      for (let n = 0; !isOver; n++) {
        const body = { definition: "undo.order" };
        const key = `undo ${caller} ${n}`;
        const { body: received } = await callUntilAnswered(pick, "POST", "/api/workflow-runs", body, key);
        started.push(received.data.run.id);
        const { status, error } = await untilEnded(pick, received.data.run.id);
        assert.deepEqual([status, error.code, error.details], ["failed", "broken", null]);
      }
    }),
  );
  const killing = (async () => {
    for (let nth = 0; nth < kills; nth++) {
      const ended = await countEnded();
      // In the middle of compensations.
      await until(async () => (await countCompensating()) >= 2 && (await countEnded()) > ended);
      await delay(chance() * 30);
      await nodes[nth % nodes.length]!.crash();
    }
  })();
  await Promise.race([killing, calling, workers.working]).finally(() => {
    isOver = true;
  });
  await calling;

  const items = [...(await allItems(async (query) => listItems(poolId, query))).values()];
  const history = Map.groupBy(await readHistory(sql), ({ runId }) => runId);
  for (const id of started) {
    const completed = history.get(id)!.filter(({ kind, step }) => kind === "step_completed" && step.startsWith("~"));
    assert.deepEqual(
      completed.map(({ step }) => step),
      ["~e", "~d", "~c", "~b", "~a"],
      id,
    );
    const own = items.filter(({ attributes }) => attributes.run === id).map(({ attributes }) => attributes.step);
    assert.deepEqual(own.sort(), ["b", "~b", "~d"], id);
  }
  const children = await sql<{ n: number }[]>`
    select count(*)::int as n from all_workflow_runs where parent_run_id <> '' group by parent_run_id`;
  assert.deepEqual(
    children.map(({ n }) => n),
    started.map(() => 1),
  );
});

const listItems = async (poolId: string, query: string) =>
  (await callUntilAnswered(pick, "GET", `/api/queues/${poolId}/items${query}`)).body;

async function countCompensating(): Promise<number> {
  const [row] = await sql`select count(*)::int as n from workflow_runs where state -> 'ending' is not null`;
  return row!.n;
}

async function countEnded(): Promise<number> {
  const [row] = await sql`select count(*)::int as n from workflow_run_archive where parent_run_id = ''`;
  return row!.n;
}

test("a child run is cancelled with its parent even if the node is killed in between", async () => {
  const first = await nodes[0]!.current;
  await publish(first, {
    ...{ dsl: "1", key: "left.child", timeout: "1h" },
    steps: [{ id: "wait", wait_event: { event: "never", timeout: "1h" } }],
  });
  await publish(first, {
    ...{ dsl: "1", key: "left.parent", timeout: "1h" },
    steps: [{ id: "sub", subworkflow: { key: "left.child" } }],
  });
  const { run } = await call(first, "POST", "/api/workflow-runs", { definition: "left.parent" });
  const childOf = async () => (await sql`select id from workflow_runs where parent_run_id = ${run.id}`)[0]?.id;
  await until(async () => (await childOf()) !== undefined);
  const childId = await childOf();
  await sql.begin(async (tx) => {
    // The lock keeps the node from cancelling the child before it is killed.
    await tx`select from workflow_runs where id = ${childId} for update`;
    const { status } = await call(first, "POST", `/api/workflow-runs/${run.id}/cancel`, {});
    assert.equal(status, "cancelled");
    await nodes[0]!.crash();
    // PostgreSQL finishes the statements of a dead client unless they are ended.
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
  });
  const child = await untilEnded(pick, childId);
  assert.deepEqual([child.status, child.error.code], ["cancelled", "cancelled"]);
});
