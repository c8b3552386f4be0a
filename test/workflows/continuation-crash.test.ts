import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { createRandom } from "../routing/lease-checks.ts";
import { callUntilAnswered, type PickNode, publish, startSharedCluster } from "./crash-cluster.ts";

const kills = sized(2, 40);
const eventsOfEach = sized(6, 60);
const cluster = await startSharedCluster([kills / 2, kills / 2]);
afterFile(cluster.stop);
const { nodes, sql } = cluster;
const chance = createRandom(7);
const pick: PickNode = () => nodes[Math.floor(chance() * nodes.length)]!.current;

test("runs that continue as new lose and double no event and no run while nodes are killed", async () => {
  await publish(await pick(), {
    ...{ dsl: "1", key: "endless", timeout: "1h" },
    steps: [
      { id: "add", wait_event: { event: "add", timeout: "1h" } },
      { id: "sum", transform: { sum: "=input.sum + steps.add.payload", count: "=input.count + 1" } },
      {
        id: "last",
        branch: [
          {
            when: `=steps.sum.count < ${eventsOfEach}`,
            steps: [{ id: "again", continue_as_new: { input: "=steps.sum" } }],
          },
        ],
      },
    ],
    output: "=steps.sum",
  });
  const keys = ["a", "b", "c", "d", "e", "f"];
  const started = new Map<string, string>();
  const send = async (key: string): Promise<void> => {
    const body = { definition: "endless", run_key: key, input: { sum: 0, count: 0 } };
    const { body: received } = await callUntilAnswered(pick, "POST", "/api/workflow-runs", body, `start ${key}`);
    started.set(key, received.data.run.id);
    for (let n = 1; n <= eventsOfEach; n++) {
      const signal = { definition: "endless", run_key: key, event: "add", payload: n, event_id: `${key} ${n}` };
      const sent = await callUntilAnswered(pick, "POST", "/api/workflow-runs:signal", signal, `add ${key} ${n}`);
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      await delay(chance() * 600);
    }
  };
  const killing = (async () => {
    for (let nth = 0; nth < kills; nth++) {
      const before = await countContinued();
      await until(async () => (await countContinued()) > before);
      await delay(chance() * 30);
      await nodes[nth % nodes.length]!.crash();
    }
  })();
  await Promise.all([killing, ...keys.map(send)]);

  await until(async () => (await sql`select 1 from workflow_runs`).length === 0);
  const sum = (eventsOfEach * (eventsOfEach + 1)) / 2;
  for (const key of keys) {
    const chain = await sql<{ id: string; continues: string; status: string; output: object; next: string }[]>`
      select id, coalesce(origin ->> 'continues', '') as continues, status, output, coalesce(state ->> 'nextRunId', '') as next
      from workflow_run_archive where run_key = ${key} order by (state -> 'input' ->> 'count')::int`;
    assert.deepEqual(
      chain.map(({ continues }) => continues),
      ["", ...chain.slice(0, -1).map(({ id }) => id)],
      "each run continues the one before",
    );
    assert.deepEqual(
      chain.map(({ next }) => next),
      [...chain.slice(1).map(({ id }) => id), ""],
    );
    assert.equal(chain[0]!.id, started.get(key));
    assert.deepEqual([chain.length, chain.at(-1)!.output], [eventsOfEach, { sum, count: eventsOfEach }]);
  }
});

async function countContinued(): Promise<number> {
  const [row] = await sql`select count(*)::int as n from all_workflow_runs where origin ->> 'continues' is not null`;
  return row!.n;
}
