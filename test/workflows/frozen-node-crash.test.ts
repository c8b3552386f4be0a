import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { allItems, createRandom } from "../routing/lease-checks.ts";
import {
  assertNothingLeft,
  call,
  callUntilAnswered,
  publish,
  readHistory,
  request,
  startSharedCluster,
} from "./crash-cluster.ts";

const rounds = sized(1, 12);
const runsPerRound = 80;
const callsInFlight = 20;
const cluster = await startSharedCluster([Number.POSITIVE_INFINITY, 0]);
afterFile(cluster.stop);
const { nodes, sql } = cluster;
const chance = createRandom(17);

/** The number of nodes that own shards, if all shards have an owner. */
async function owners(): Promise<number> {
  const [row] = await sql<{ owners: number; free: number }[]>`
    select count(distinct n.node_id)::int as owners, count(*) filter (where n.node_id is null)::int as free
    from shards s left join shard_nodes n on n.kind = s.kind and n.node_id = s.node_id and n.expires_at > now()
    where s.kind = 'workflow.runs'`;
  return row!.free > 0 ? 0 : row!.owners;
}

test("a node that was frozen while it advanced runs changes none of them when it wakes, and its calls take effect once or not at all", async () => {
  const [frozen, other] = [await nodes[0]!.current, await nodes[1]!.current];
  const { id: poolId } = await call(other, "POST", "/api/pools", { name: "frozen-items" });
  await publish(other, {
    ...{ dsl: "1", key: "frozen.flow", timeout: "1h" },
    steps: [
      { id: "timer", wait_timer: { until: "=input.at" } },
      { id: "assign", route: { pool: "frozen-items", attributes: { run: "=run.id" } } },
      { id: "go", wait_event: { event: "go", timeout: "1h" } },
    ],
    output: "=steps.go.payload",
  });
  let calls = 0;
  for (let round = 0; round < rounds; round++) {
    await until(async () => (await owners()) === 2);
    const atMs = Date.now() + 3000;
    const input = { at: new Date(atMs).toISOString() };
    const start = (key: string, to = other) =>
      request(to, "POST", "/api/workflow-runs", { definition: "frozen.flow", input }, { "idempotency-key": key });
    const ids: string[] = await Promise.all(
      Array.from({ length: runsPerRound }, async (_, n) => {
        const { status, body } = await start(`${round} ${n}`, n % 2 === 0 ? frozen : other);
        assert.equal(status, 200, JSON.stringify(body));
        return body.data.run.id;
      }),
    );
    // The node is frozen while it advances runs whose time has come, and with calls in flight.
    await delay(Math.max(0, atMs - Date.now()) + chance() * 40);
    const keys = Array.from({ length: callsInFlight }, (_, n) => `${round} in flight ${n}`);
    calls += keys.length;
    const inFlight = keys.map((key) => start(key, frozen).catch(() => undefined));
    await delay(chance() * 10);
    await nodes[0]!.signal("SIGSTOP");
    await until(async () => (await owners()) === 1);
    // The other node advances all runs to the step that waits.
    const waiting = () => sql<{ id: string; revision: number }[]>`
      select id, revision from workflow_runs where id = any(${ids}) and state -> 'active' -> 'go' is not null order by id`;
    await until(async () => (await waiting()).length === ids.length);
    const before = [...(await waiting())];

    await nodes[0]!.signal("SIGCONT");
    const answers = await Promise.all(inFlight);
    await until(async () => (await owners()) === 2);
    assert.deepEqual([...(await waiting())], before);
    // A repeated call gets the run of the first one, on any node.
    for (const [at, key] of keys.entries()) {
      const again = await callUntilAnswered(
        async () => other,
        "POST",
        "/api/workflow-runs",
        { definition: "frozen.flow", input },
        key,
      );
      assert.equal(again.status, 200, JSON.stringify(again.body));
      const id = again.body.data.run.id;
      if (answers[at]?.status === 200) assert.equal(id, answers[at].body.data.run.id);
      ids.push(id);
    }
    const signal = { event: "go", payload: round, event_id: "go" };
    await Promise.all(
      ids.map((id) => callUntilAnswered(() => nodes[0]!.current, "POST", `/api/workflow-runs/${id}/signal`, signal)),
    );
  }
  const total = rounds * runsPerRound + calls;
  const ended = async () =>
    (await sql`select count(*)::int as n from workflow_run_archive where status = 'succeeded'`)[0]!.n;
  await until(async () => (await ended()) === total);
  const items = await allItems(
    async (query) =>
      (await callUntilAnswered(() => nodes[1]!.current, "GET", `/api/queues/${poolId}/items${query}`)).body,
  );
  assert.equal(items.size, total);
  assert.equal(new Set([...items.values()].map(({ attributes }) => attributes.run)).size, total);
  for (const [id, history] of Map.groupBy(await readHistory(sql), ({ runId }) => runId)) {
    const done = history.filter(({ kind }) => kind === "step_completed").map(({ step }) => step);
    assert.deepEqual(done, ["timer", "assign", "go"], id);
  }
  await assertNothingLeft(cluster);
});
