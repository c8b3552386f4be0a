import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { verifyAudit } from "../../src/platform/audit/index.ts";
import { cli } from "../cli/cli-run.ts";
import { afterFile } from "../harness/after-file.ts";
import type { NodeProcess } from "../harness/node-process.ts";
import type { TestDatabase } from "../harness/postgres.ts";
import { type RestResponse, restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { newTenant } from "../routing/tenant-fixture.ts";
import { key, pidsOf, readMetric, startProcesses } from "./process-fixture.ts";

let machine: NodeProcess;
let sql: TestDatabase["sql"];
let auditPath: string;
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-machine-"));
  afterFile(() => rm(folder, { recursive: true }));
  auditPath = join(folder, "audit.log");
  ({ machine, sql } = await startProcesses(
    { after: afterFile as never },
    {
      ...{ "database.max_connections": "8", "ratelimit.burst_s": "20", "dynamic_config.enabled": "true" },
      ...{ "audit.sink": "file", "audit.path": auditPath },
    },
  ));
});

const headers = { "x-api-key": key, "content-type": "application/json", connection: "close" };
/** The request ids of acknowledged calls. */
const acknowledged: string[] = [];
const publish = async (type: string, id: string) => {
  const response = await fetch(`${machine.baseUrl}/api/events`, {
    ...{ method: "POST", headers: { ...headers, "idempotency-key": id } },
    body: JSON.stringify({ type, subject: id }),
  });
  if (response.ok) acknowledged.push(response.headers.get("x-request-id")!);
  return response;
};

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

test("a tenant's rate limit is one limit for all processes together, and each enforces its part", async () => {
  const tenant = await newTenant({ baseUrl: machine.baseUrl, adminKey: key });
  await tenant.ok("PUT", "/api/config/values/ratelimit.tenant_rps", { value: 2 });
  const startedMs = performance.now();
  // It costs one token, and the event does not exist.
  const path = "/api/events/01J00000000000000000000000";
  const call = () => restClient(machine.baseUrl, tenant.key).call("GET", path, undefined, { connection: "close" });
  const limited: RestResponse[] = [];
  await until(async () => {
    const batch = await Promise.all(Array.from({ length: 20 }, call));
    // A process that does not know of the limit yet enforces none.
    limited.push(...batch.filter(({ headers }) => headers.has("x-ratelimit-limit")));
    return batch.every(({ status }) => status === 429);
  });
  assert.deepEqual([...new Set(limited.map(({ headers }) => headers.get("x-ratelimit-limit")))], ["20"]);
  const passed = limited.filter(({ status }) => status === 404).length;
  const passedMax = 40 + (2 * (performance.now() - startedMs)) / 1000;
  assert.ok(passed >= 40 && passed <= passedMax, `${passed} of ${limited.length} passed buckets of 20`);
});

test("a killed process is replaced, the others serve meanwhile, and nothing acknowledged is lost", async () => {
  const [first, victim] = await pidsOf(machine);
  const before = await readMetric(machine, "rpc_server_call_duration_seconds_count");
  let isDone = false;
  const published = new Set<string>();
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
      published.add(id);
    }
  };
  const writers = Promise.all(Array.from({ length: 8 }, writer));
  await until(() => published.size > 100);
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
    [...published].filter((id) => !stored.includes(id)),
    [],
  );
  // What the killed process had counted is still in the sums.
  const after = await readMetric(machine, "rpc_server_call_duration_seconds_count");
  for (const [labels, value] of before) assert.ok(after.get(labels)! >= value, labels);
});

test("all processes write one audit log, with one chain, which has every acknowledged call once", async () => {
  const verdict = await verifyAudit(auditPath);
  assert.equal(verdict.ok, true, JSON.stringify(verdict.brokenAt));
  const lines = (await readFile(auditPath, "utf8")).trimEnd().split("\n");
  const succeeded = lines.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome === "succeeded");
  const published = succeeded.filter(({ operation }) => operation === "service.api.EventService/PublishEvent");
  const audited = new Set(published.map((entry) => entry.request_id));
  assert.equal(audited.size, published.length, "no call is there twice");
  assert.deepEqual(
    acknowledged.filter((id) => !audited.has(id)),
    [],
  );
  assert.ok(acknowledged.length > 240);
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
