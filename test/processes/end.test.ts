import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runs } from "../harness/embedded-owner.ts";
import { nodeMain, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { key, pidsOf, startProcesses } from "./process-fixture.ts";

const headers = { "x-api-key": key, "content-type": "application/json" };

/** Runs a start that is expected to fail. */
async function startInVain(settings: Readonly<Record<string, string>>) {
  const args = Object.entries({ "server.processes": "2", ...settings }).flatMap(([name, value]) => [
    ...["--set", `${name}=${value}`],
  ]);
  const child = spawn(process.execPath, [nodeMain, "serve", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const [message, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { message, code };
}

test("SIGTERM drains all processes: every call that runs gets its response, and the exit code is 0", async (t) => {
  const { machine, sql } = await startProcesses(t);
  const pids = await pidsOf(machine);
  const proceed = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holder = sql.begin(async (tx) => {
    await tx`lock table environments in exclusive mode`;
    held.resolve();
    await proceed.promise;
  });
  await held.promise;
  const create = (i: number) =>
    fetch(`${machine.baseUrl}/api/v2/environments`, {
      ...{ method: "POST", headers: { ...headers, connection: "close" } },
      body: JSON.stringify({ key: `lab-${i}` }),
    });
  const calls = Promise.allSettled([1, 2, 3, 4].map(create));
  await until(
    async () => (await sql`select from pg_locks where not granted and relation = 'environments'::regclass`).count === 4,
  );
  machine.process.kill("SIGTERM");
  const isRefused = () =>
    fetch(`${machine.baseUrl}/health`).then(
      () => false,
      () => true,
    );
  await until(isRefused);
  proceed.resolve();
  await holder;
  assert.deepEqual(
    (await calls).map((call) => (call.status === "fulfilled" ? call.value.status : call.reason)),
    [200, 200, 200, 200],
  );
  assert.equal(await machine.exited, 0, machine.output());
  for (const pid of pids) assert.equal(await runs(pid), false);
});

test("a killed supervisor leaves no process and no database behind, and a second one cannot share its data", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-processes-"));
  const machine = await startNodeProcess({ "server.processes": "2", "data.dir": dataDir });
  t.after(async () => {
    await machine.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  const second = await startInVain({ "data.dir": dataDir, "server.internal_addr": "" });
  assert.equal(second.code, 1);
  assert.match(second.message, new RegExp(`is in use by process ${machine.process.pid},`));
  const cluster = join(dataDir, "postgres", "cluster");
  const databasePid = Number.parseInt(await readFile(join(cluster, "postmaster.pid"), "utf8"), 10);
  const pids = [...(await pidsOf(machine)), databasePid];
  for (const pid of pids) assert.equal(await runs(pid), true);
  await machine.kill();
  for (const pid of pids) await until(async () => !(await runs(pid)));
});

test("a setting that no process can use ends the start with 78 and one message", async (t) => {
  const { url, drop } = await freshDatabase();
  t.after(drop);
  const taken = net.createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  const inUse = await startInVain({
    ...{ "database.url": url, "server.http_addr": address, "server.internal_addr": "", "log.level": "error" },
    ...{ "server.metrics_addr": "", "api.addr": "" },
  });
  assert.equal(inUse.code, 78, inUse.message);
  assert.match(inUse.message, /^service: server\.http_addr: port \d+ of 127\.0\.0\.1 is in use by another program\.\n/);
  assert.equal(inUse.message.match(/in use/g)?.length, 1);
  const tooMany = await startInVain({ "server.processes": "many", "server.internal_addr": "" });
  assert.equal(tooMany.code, 78);
  assert.match(tooMany.message, /^service: server\.processes: must be a whole number or auto/);
});
