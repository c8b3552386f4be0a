import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Fault } from "../../src/cli/prove/fault.ts";
import { kill } from "../../src/cli/prove/faults/node-faults.ts";
import { runProof } from "../../src/cli/prove/proof-run.ts";
import { createQueueWorkload } from "../../src/cli/prove/workloads/queue-workload.ts";
import { nodeMain } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startProve } from "./prove-run.ts";

test("a run with a node that does not start again fails, and ends early", async (t) => {
  const run = await newRun(t);
  const killForever: Fault = {
    ...kill,
    async inject(...parts) {
      await rm(run.main);
      await kill.inject(...parts);
    },
  };
  const { verdict, failure, faults } = await runProof({ ...run, durationMs: 3_600_000, faults: [killForever] });
  assert.equal(verdict, "failed");
  assert.match(failure, /^The node ended with 1:[\s\S]*Cannot find module/);
  assert.deepEqual(faults, { kill: 1 });
});

test("a run whose nodes do not start says why, and ends", async () => {
  const env = { NODE_OPTIONS: `--import ${new URL("planted/failed-start.ts", import.meta.url)}` };
  const run = await startProve(["--embedded"], { env });
  const { exitCode, out, err } = await run.ended;
  assert.deepEqual([exitCode, out], [1, ""]);
  assert.match(err, /^service: Cannot prove: The node ended with 7/);
  assert.deepEqual(await readdir(run.folder), []);
});

/** A run of one queue on two nodes, whose program may be removed. */
async function newRun(t: TestContext) {
  const { url: databaseUrl, drop } = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-prove-"));
  t.after(async () => {
    await rm(folder, { recursive: true, force: true });
    await drop();
  });
  const main = join(folder, "main");
  await symlink(nodeMain, main);
  return {
    ...{ databaseUrl, database: "PostgreSQL", folder, main, nodes: 2, seed: 1 },
    workloads: [createQueueWorkload({ name: "plain", producers: 1, workers: 1, openMax: 50 })],
    stopping: new AbortController().signal,
    onProcesses() {},
    onProgress() {},
  };
}
