import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { createRandom } from "../routing/lease-checks.ts";
import {
  assertNothingLeft,
  call,
  callUntilAnswered,
  type Json,
  type PickNode,
  publish,
  startSharedCluster,
  untilEnded,
} from "./crash-cluster.ts";
import { startWorkers } from "./crash-worker.ts";

const publishes = 10;
const restarts = sized(3, 30);
const cluster = await startSharedCluster(Array(3).fill(restarts / 3));
afterFile(cluster.stop);
const { nodes } = cluster;
const chance = createRandom(29);
const pick: PickNode = () => nodes[Math.floor(chance() * nodes.length)]!.current;

/** Every version adds a step, and tells its number. */
const documentOf = (version: number) => ({
  ...{
    dsl: "1",
    key: "deploy.flow",
    timeout: "1h",
    retry: { max_attempts: 100, initial: "10ms", factor: 1, max: "50ms" },
  },
  steps: [
    { id: "before", task: { queue: "deploy", type: "work" }, timeout: { attempt: "2s" }, with: { version } },
    { id: "pause", wait_timer: { for: "700ms" } },
    ...Array.from({ length: version }, (_, n) => ({ id: `extra_${n}`, transform: n })),
    { id: "after", task: { queue: "deploy", type: "work" }, timeout: { attempt: "2s" }, with: { version } },
  ],
  output: { before: "=steps.before.input.version", after: "=steps.after.input.version" },
});

test(`runs finish on the version that they started with, through ${publishes} publishes and graceful restarts of all nodes`, async (t) => {
  const digests = new Map<number, string>();
  const release = async (version: number) => {
    const { version: published } = await publish(await nodes[0]!.current, documentOf(version));
    assert.equal(published.version, version);
    digests.set(version, published.digest);
  };
  await release(1);
  const workers = startWorkers(pick, { queue: "deploy", types: ["work"], count: 4, chance });
  t.after(() => workers.stop());

  const ended: Json[] = [];
  let isOver = false;
  const calling = Promise.all(
    Array.from({ length: 8 }, async (_, caller) => {
      for (let n = 0; !isOver; n++) {
        // Some callers pin a version.
        const version = n % 3 === 0 ? 1 + Math.floor(chance() * digests.size) : 0;
        const body = { definition: "deploy.flow", version };
        const key = `deploy ${caller} ${n}`;
        const { status, body: received } = await callUntilAnswered(pick, "POST", "/api/workflow-runs", body, key);
        assert.equal(status, 200, JSON.stringify(received));
        const { run } = received.data;
        if (version > 0) assert.equal(run.version, version);
        const end = await untilEnded(pick, run.id);
        assert.equal(end.version, run.version);
        ended.push(end);
      }
    }),
  );
  let restarted = 0;
  const deploying = (async () => {
    for (let nth = 0; nth < Math.max(publishes - 1, restarts); nth++) {
      const before = ended.length;
      if (nth < publishes - 1) await release(nth + 2);
      if (nth % Math.ceil((publishes - 1) / restarts) === 0) {
        assert.equal(await nodes[restarted++ % nodes.length]!.restart(), 0);
      }
      await until(() => ended.length > before);
    }
  })();
  await Promise.race([deploying, calling, workers.working]).finally(() => {
    isOver = true;
  });
  await calling;

  assert.equal(digests.size, publishes);
  assert.equal(new Set(digests.values()).size, publishes);
  for (const [version, digest] of digests) {
    const stored = await call(await pick(), "GET", `/api/workflow-definitions/deploy.flow/versions/${version}`);
    assert.equal(stored.digest, digest);
  }
  for (const { id, status, version, output } of ended) {
    assert.deepEqual([status, output], ["succeeded", { before: version, after: version }], id);
    const advances: Json[] = await call(await pick(), "GET", `/api/workflow-runs/${id}/history`);
    const done = advances.flatMap(({ entries }) => entries).filter(({ kind }: Json) => kind === "step_completed");
    assert.deepEqual(
      done.map(({ step }: Json) => step),
      documentOf(version).steps.map((step) => step.id),
    );
  }
  assert.ok(new Set(ended.map(({ version }) => version)).size > 1);
  await assertNothingLeft(cluster);
});
