import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let own: TenantFixture;
let db: Database;
before(async () => {
  const service = await startService();
  own = await newTenant(service);
  db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  afterFile(() => db.close());
});

const mib = 1024 * 1024;
const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth);

async function publish(key: string, steps: readonly object[], more: object = {}): Promise<void> {
  await own.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps, ...more } });
  await own.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
}

const start = async (definition: string, input: unknown): Promise<string> =>
  (await own.ok("POST", "/api/workflow-runs", { definition, input })).data.run.id;

const endOf = (id: string): Promise<ResponseData> =>
  until(
    async () => (await own.ok("GET", `/api/workflow-runs/${id}?wait_s=5`)).data,
    ({ status }) => !["pending", "running", "waiting"].includes(status),
    120_000,
  );

/** The bytes that are stored of a run, and those of the largest advance. */
async function storedBytes(runId: string): Promise<{ state: number; history: number; advance: number }> {
  const [row] = await db.sql<{ state: number; history: number; advance: number }[]>`
    select (select octet_length(state::text) from workflow_run_archive where id = ${runId}) as state,
      sum(octet_length(entries::text))::int as history, max(octet_length(entries::text)) as advance
    from workflow_history where run_id = ${runId}`;
  return row!;
}

async function pollTask(worker: object) {
  const tasks = await until(
    async () => (await own.ok("POST", "/api/workflow-tasks:poll", worker)).data.tasks,
    ({ length }) => length > 0,
  );
  return tasks[0];
}

const input = { big: "x".repeat(100_000), list: numbers(900) };

test("a map of large outputs fails before they are stored, even if the run could end in one advance", async () => {
  const each = {
    id: "each",
    map: { in: "=input.list", max_items: 900, steps: [{ id: "x", transform: "=input.big" }] },
  };
  await publish("large.map", [each]);
  const run = await endOf(await start("large.map", input));
  assert.deepEqual([run.status, run.error.code, run.error.step], ["failed", "state_too_large", "x"]);
  const { state, history } = await storedBytes(run.id);
  assert.ok(state <= mib / 4 && history < mib, JSON.stringify({ state, history }));
});

test("a run whose outputs fill its history fails with compensation, and stores a bounded history", async () => {
  const inside = [
    { id: "x", transform: "=input.big" },
    { id: "y", transform: 1 },
  ];
  const compensate = { task: { queue: "undo", type: "undo" } };
  const done = { id: "done", transform: 1, compensate };
  const drop = { id: "drop", map: { in: "=input.list", max_items: 900, steps: inside } };
  await publish("large.history", [done, drop], { on_failure: "compensate" });
  const runId = await start("large.history", input);
  const worker = {
    queue: "undo",
    worker_id: "w",
    build_id: "b",
    slots: 1,
    wait_s: 20,
    capabilities: [{ type: "undo" }],
  };
  const task = await pollTask(worker);
  assert.deepEqual([task.run_id, task.step], [runId, "~done"]);
  const completion = { task_id: task.task_id, token: task.token, output: {} };
  await own.ok("POST", "/api/workflow-tasks:complete", { completions: [completion] });
  const run = await endOf(runId);
  assert.deepEqual([run.status, run.error.code], ["failed", "state_too_large"]);
  const stored = await storedBytes(runId);
  assert.ok(stored.history > 16 * mib && stored.history < 18 * mib, JSON.stringify(stored));
  assert.ok(stored.advance < 5 * mib, JSON.stringify(stored));
});

test("a worker's output that does not fit fails its step, and the error can be caught", async () => {
  const work = (id: string, more: object = {}) => ({ id, task: { queue: "fit", type: "t" }, ...more });
  const handler = [{ on: ["state_too_large"], steps: [{ id: "small", transform: "=err.code" }] }];
  await publish("large.output", [work("a"), work("b"), work("c", { catch: handler })], { output: "=steps.c" });
  const runId = await start("large.output", null);
  const output = "x".repeat(100_000);
  for (let nth = 0; nth < 3; nth++) {
    const worker = { queue: "fit", worker_id: "w", build_id: "b", slots: 1, wait_s: 20, capabilities: [{ type: "t" }] };
    const task = await pollTask(worker);
    const completion = { task_id: task.task_id, token: task.token, output };
    await own.ok("POST", "/api/workflow-tasks:complete", { completions: [completion] });
  }
  const run = await endOf(runId);
  assert.deepEqual([run.status, run.output], ["succeeded", "state_too_large"]);
});
