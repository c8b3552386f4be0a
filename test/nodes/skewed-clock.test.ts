import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { clockSkewedBy, preloadOf } from "../../src/cli/prove/nodes/preload.ts";
import { ulidMs } from "../../src/platform/ids/ulid.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { publish } from "../workflows/crash-cluster.ts";

const hourMs = 3_600_000;
const waitMs = 8 * 60_000;
const document = {
  ...{ dsl: "1", key: "skewed.wait", timeout: "1d" },
  steps: [{ id: "wait", wait_timer: { for: "8m" } }],
};

/** Starts nodes on one database, each with a system clock of its own. */
async function startNodes(t: TestContext, skewsMs: readonly number[]) {
  const { url, sql, drop } = await freshDatabase();
  t.after(drop);
  const settings = { "database.url": url, "auth.bootstrap_api_key": "sk_test_skewed_0123456789abcdef" };
  const nodes = await Promise.all(
    skewsMs.map((skewMs) =>
      startNodeProcess(settings, {
        shell: (command) => `NODE_OPTIONS='--import=${preloadOf(clockSkewedBy(skewMs))}' exec ${command}`,
      }),
    ),
  );
  t.after(() => Promise.all(nodes.map((node) => node.kill())));
  const databaseMs = async () => (await sql<{ now: Date }[]>`select clock_timestamp() as now`)[0]!.now.getTime();
  return { nodes: nodes.map((node) => ({ ...node, ...restClient(node.baseUrl, node.adminKey) })), sql, databaseMs };
}

for (const skewMs of [hourMs, -hourMs, 3000]) {
  test(`timers, event times and ids of a node are the database's, also with a clock ${skewMs / 1000} s ahead`, async (t) => {
    const { nodes, sql, databaseMs } = await startNodes(t, [skewMs]);
    const [node] = nodes;
    const fromMs = await databaseMs();
    await publish(node!, document);
    const pool = await node!.call("POST", "/api/pools", { name: "skewed" });
    const item = { pool_id: pool.body.data.id, type: "lead", key: "1", payload: {} };
    assert.equal((await node!.call("POST", "/api/route", item)).status, 200);
    const started = await node!.call("POST", "/api/workflow-runs", { definition: document.key, input: {} });
    assert.equal(started.status, 200, started.text);
    const toMs = await databaseMs();

    const [run] = await sql<{ id: string; created_at: Date; wake_at: Date }[]>`
      select id, created_at, wake_at from workflow_runs`;
    const events = await sql<{ id: string; time: Date }[]>`select id, time from events where type not like 'api_key%'`;
    assert.ok(events.length > 2);
    const times = {
      createdAt: run!.created_at.getTime(),
      runId: ulidMs(run!.id),
      timer: run!.wake_at.getTime() - waitMs,
      ...Object.fromEntries(
        events.flatMap(({ id, time }, nth) => [
          [`event ${nth}`, time.getTime()],
          [`id of event ${nth}`, ulidMs(id)],
        ]),
      ),
    };
    // The time of the database is known up to a fraction of a round trip, which is long on a busy machine.
    for (const [name, atMs] of Object.entries(times)) {
      assert.ok(atMs > fromMs - 1500 && atMs < toMs + 1500, `${name} is ${atMs - fromMs} ms after the start`);
    }
  });
}

test("a node whose clock is an hour ahead is not ready, says why, and owns no timers", async (t) => {
  const { nodes, sql } = await startNodes(t, [hourMs, 0]);
  const [ahead, right] = nodes;
  const ready = await ahead!.call("GET", "/readyz");
  assert.equal(ready.status, 503);
  assert.deepEqual(ready.body.components.clock, {
    status: "unhealthy",
    detail: "the clock of this machine is 3600 s ahead of the database's",
  });
  assert.match(ahead!.output(), /"msg":"fenced: /);
  assert.equal((await right!.call("GET", "/readyz")).status, 200);
  await until(async () => {
    const [row] = await sql<{ owners: number; owned: number }[]>`
      select count(distinct node_id)::int as owners, count(*)::int as owned from shards
      where kind = 'workflow.runs' and node_id in (select node_id from shard_nodes where expires_at > now())`;
    return row!.owners === 1 && row!.owned > 0;
  });
  await publish(right!, document);
  for (let nth = 0; nth < 10; nth++) {
    await right!.call("POST", "/api/workflow-runs", { definition: document.key, input: {} });
  }
  const [members] = await sql`select count(*)::int as count from shard_nodes where kind = 'workflow.runs'`;
  assert.deepEqual(members, { count: 1 });
  const [waiting] = await sql`select count(*)::int as count from workflow_runs where status = 'waiting'`;
  assert.deepEqual(waiting, { count: 10 });
});
