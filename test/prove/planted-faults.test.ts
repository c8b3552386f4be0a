import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Fault } from "../../src/cli/prove/fault.ts";
import { cutDatabase } from "../../src/cli/prove/faults/database-faults.ts";
import { type Progress, runProof } from "../../src/cli/prove/proof-run.ts";
import { createQueueWorkload } from "../../src/cli/prove/workloads/queue-workload.ts";
import { freshDatabase } from "../harness/postgres.ts";

const plants = [
  {
    title: "a service that ignores fences",
    module: "ignored-fence.ts",
    faults: [],
    isEnough: ({ acknowledged }: Progress) => acknowledged.complete! >= 800,
    promise: "fenced",
    /** The smallest history that shows it, as kinds and names of its events. */
    history: ["acknowledged complete", "held lease"],
  },
  {
    title: "a service that stores idempotency records after the effect",
    module: "late-record.ts",
    // The moment between effect and record shows only if a node is stopped in it.
    faults: [cutDatabase],
    isEnough: ({ faults }: Progress) => faults["cut database"]! >= 5,
    promise: "effect-once",
    history: ["observed item", "observed item"],
  },
  {
    title: "a service that gives a lease twice",
    module: "double-lease.ts",
    faults: [],
    isEnough: ({ acknowledged }: Progress) => acknowledged.complete! >= 800,
    promise: "leased-once",
    history: ["held lease", "held lease"],
  },
];

for (const { title, module, faults, isEnough, promise, history } of plants) {
  test(`${title} is caught with the smallest history that shows it`, async () => {
    const report = await proveQueues(`--import ${new URL(`planted/${module}`, import.meta.url)}`, faults, isEnough);
    const { status, violations } = report.promises.find(({ id }) => id === promise)!;
    assert.equal(status, "broken", JSON.stringify(report, null, 2));
    assert.equal(report.verdict, "broken");
    for (const violation of violations) {
      assert.deepEqual(violation.history.map(({ kind, name }) => `${kind} ${name}`).sort(), history);
    }
  });
}

/** Proves queues, until the progress is enough, with nodes that get these options of Node.js. */
async function proveQueues(nodeOptions: string, faults: readonly Fault[], isEnough: (progress: Progress) => boolean) {
  const stopping = new AbortController();
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-prove-"));
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = nodeOptions;
  try {
    return await runProof({
      ...{ databaseUrl: database.url, database: "PostgreSQL", folder, seed: 1 },
      nodes: faults.length === 0 ? 1 : 2,
      // The sources, because a fault is planted into a source file.
      main: fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url)),
      durationMs: 120_000,
      workloads: [createQueueWorkload({ name: "plain", producers: 2, workers: 3, openMax: 200 })],
      faults,
      stopping: stopping.signal,
      onProcesses() {},
      onProgress: (progress) => void (isEnough(progress) && stopping.abort()),
    });
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  }
}
