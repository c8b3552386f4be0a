import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, test } from "node:test";
import { cli } from "../cli/cli-run.ts";
import { afterFile } from "../harness/after-file.ts";
import type { NodeProcess } from "../harness/node-process.ts";
import type { TestDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { key, pidsOf, readMetric, startProcesses } from "./process-fixture.ts";

let machine: NodeProcess;
let sql: TestDatabase["sql"];
before(async () => {
  ({ machine, sql } = await startProcesses({ after: afterFile as never }, { "database.max_connections": "8" }));
});

const headers = { "x-api-key": key, "content-type": "application/json", connection: "close" };
const publish = (type: string, id: string) =>
  fetch(`${machine.baseUrl}/api/events`, {
    ...{ method: "POST", headers: { ...headers, "idempotency-key": id } },
    body: JSON.stringify({ type, subject: id }),
  });

test("calls are spread over all processes, and the metrics are their sums, from whichever process is asked", async () => {
  const count = () => readMetric(machine, "rpc_server_call_duration_seconds_count");
  const calls = await Promise.all(Array.from({ length: 40 }, (_, i) => publish("spread.one", `spread-${i}`)));
  assert.ok(calls.every(({ status }) => status === 200));
  const total = await until(count, (found) => [...found.values()].reduce((sum, each) => sum + each, 0) >= 40);
  assert.equal([...total].find(([labels]) => labels.includes("PublishEvent"))?.[1], 40);
  const byProcess = await readMetric(machine, "process_calls_total");
  assert.deepEqual([...byProcess.keys()], ['process="1"', 'process="2"']);
  assert.ok(
    [...byProcess.values()].every((each) => each >= 15),
    `calls by process: ${[...byProcess.values()]}`,
  );
});

test("the database connections of all processes together are what the setting says", async () => {
  await Promise.all(Array.from({ length: 200 }, (_, i) => publish("spread.two", `connections-${i}`)));
  const [row] = await sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'switchyard'`;
  // Each process has two more to load caches, and one that listens.
  assert.ok(row!.count <= 8 + 2 * 3, `${row!.count} connections`);
});

test("a killed process is replaced, the others serve meanwhile, and nothing acknowledged is lost", async () => {
  const [first, victim] = await pidsOf(machine);
  const before = await readMetric(machine, "rpc_server_call_duration_seconds_count");
  let isDone = false;
  const acknowledged = new Set<string>();
  const writer = async () => {
    while (!isDone) {
      const id = randomUUID();
      // A call on a connection to the killed process fails, and is repeated with its key.
      const send = async () => {
        const response = await publish("killed.one", id);
        await response.arrayBuffer();
        return response.status;
      };
      await until(
        () => send().catch(() => undefined),
        (status) => status === 200,
      );
      acknowledged.add(id);
    }
  };
  const writers = Promise.all(Array.from({ length: 8 }, writer));
  await until(() => acknowledged.size > 100);
  process.kill(victim!, "SIGKILL");
  const pids = await until(
    () => pidsOf(machine),
    (found) => found[1] !== victim,
  );
  isDone = true;
  await writers;
  assert.equal(pids[0], first);
  const rows = await sql<{ subject: string }[]>`select subject from events where type = 'killed.one'`;
  const stored = rows.map(({ subject }) => subject);
  assert.equal(new Set(stored).size, stored.length, "nothing happened twice");
  assert.deepEqual(
    [...acknowledged].filter((id) => !stored.includes(id)),
    [],
  );
  // What the killed process had counted is still in the sums.
  const after = await readMetric(machine, "rpc_server_call_duration_seconds_count");
  for (const [labels, value] of before) assert.ok(after.get(labels)! >= value, labels);
});

test("a machine is ready while one of its processes is, and says how many are", async () => {
  const ready = async () => {
    const response = await fetch(`${machine.baseUrl}/ready`, { headers, signal: AbortSignal.timeout(5000) });
    return {
      status: response.status,
      body: (await response.json()) as { components: Record<string, { detail?: string }> },
    };
  };
  await until(ready, ({ body }) => body.components.processes?.detail === undefined);
  const [, victim] = await pidsOf(machine);
  // A process that does not run cannot answer either.
  process.kill(victim!, "SIGSTOP");
  // Every other connection is given to the process that does not run.
  const partly = await until(
    () => Promise.any(Array.from({ length: 4 }, ready)).catch(() => undefined),
    (found) => found?.body.components.processes?.detail !== undefined,
  );
  process.kill(victim!, "SIGCONT");
  assert.equal(partly!.status, 200);
  assert.equal(partly!.body.components.processes?.detail, "1 of 2 processes are ready");
});

test("the processes write one log, and each names itself", async () => {
  const lines = machine
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const named = new Set(lines.map((line) => JSON.parse(line).process));
  assert.ok(named.has("supervisor"), machine.output());
  assert.equal(machine.output().match(/serving at/g)?.length, 1);
});

test("service top shows every process and the busiest queues", async () => {
  const post = (path: string, body: object) =>
    fetch(`${machine.baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const created = await post("/api/pools", { name: "orders", strategy: "round_robin" });
  const { data } = (await created.json()) as { data: { id: string } };
  assert.equal((await post("/api/route", { pool_id: data.id, type: "order" })).status, 200);
  const connection = ["--address", machine.baseUrl, "--key", key];
  const { exitCode, out, err } = await cli(["top", "--once", "--json", ...connection]);
  assert.equal(exitCode, 0, err);
  const { processes, queues } = JSON.parse(out);
  assert.deepEqual(
    processes.map((each: { pid: number }) => each.pid),
    await pidsOf(machine),
  );
  for (const each of processes) {
    assert.ok(each.memory_bytes > 0 && each.calls_per_s >= 0 && each.late_p99_ms >= 0, JSON.stringify(each));
  }
  const { oldest_s, ...queue } = queues[0];
  assert.deepEqual(queue, { pool: "orders", depth: 1, in_flight: 0, completed_per_s: 0 });
  const screen = await cli(["top", "--once", ...connection], { columns: 100 });
  assert.match(screen.out, /PROCESS +PID +UP[\s\S]*\n1 +\d+[\s\S]*\n2 +\d+[\s\S]*QUEUE +WAITING[\s\S]*\norders +1 +0 /);
});
