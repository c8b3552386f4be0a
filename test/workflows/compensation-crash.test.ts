import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";
import { allItems, createRandom } from "../routing/lease-checks.ts";
import {
  call,
  callUntilAnswered,
  type PickNode,
  publish,
  readHistory,
  startSharedCluster,
  until,
  untilEnded,
} from "./crash-cluster.ts";
import { startWorkers } from "./crash-worker.ts";

const kills = sized(2, 40);
const retry = { max_attempts: 100, initial: "10ms", factor: 1, max: "50ms" };
const cluster = await startSharedCluster(2);
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

test("child runs are cancelled with their parents even if the node is killed at once", async () => {
  const first = await nodes[0]!.current;
  await publish(first, {
    ...{ dsl: "1", key: "left.child", timeout: "1h" },
    steps: [{ id: "wait", wait_event: { event: "never", timeout: "1h" } }],
  });
  await publish(first, {
    ...{ dsl: "1", key: "left.parent", timeout: "1h" },
    steps: [{ id: "sub", subworkflow: { key: "left.child" } }],
  });
  const count = 20;
  const start = async () => (await call(first, "POST", "/api/workflow-runs", { definition: "left.parent" })).run.id;
  const ids = await Promise.all(Array.from({ length: count }, start));
  const childrenOf = () => sql`select id, status from all_workflow_runs where parent_run_id = any(${ids})`;
  await until(async () => (await childrenOf()).length === count);
  const cancelling = Promise.allSettled(ids.map((id) => call(first, "POST", `/api/workflow-runs/${id}/cancel`, {})));
  await until(async () => (await sql`select from workflow_run_archive where id = any(${ids})`).length > 0);
  await nodes[0]!.crash();
  await cancelling;
  for (const id of ids) {
    const path = `/api/workflow-runs/${id}/cancel`;
    const { status, body } = await callUntilAnswered(pick, "POST", path, {});
    assert.ok(status === 200 || body.errorCode === "FAILED_PRECONDITION", JSON.stringify(body));
  }
  await until(async () => (await childrenOf()).every(({ status }) => status === "cancelled"));
  assert.equal((await childrenOf()).length, count);
});
