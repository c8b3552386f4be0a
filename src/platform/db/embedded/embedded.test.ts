import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { query, runs, scratch } from "../../../../test/harness/embedded-owner.ts";
import { until } from "../../../../test/harness/until.ts";
import { Failure } from "../../../errors/index.ts";

const inUse = (error: unknown) =>
  error instanceof Failure && error.code === "FAILED_PRECONDITION" && /is in use by process \d+/.test(error.message);
// For tests that are not about the first start.
const initialised = { initialised: true };

test("the first start creates a durable UTF-8 database", async (t) => {
  const { start } = await scratch(t);
  const { url } = await start({ durable: true });
  const [row] = await query(
    url,
    `select current_database() as name, current_setting('server_encoding') as encoding, lower('ÄÖ') as lower,
       current_setting('fsync') || current_setting('synchronous_commit') || current_setting('full_page_writes') as sync`,
  );
  assert.deepEqual(row, { name: "switchyard", encoding: "UTF8", lower: "äö", sync: "ononon" });
});

test("a second start finds the data of the first", async (t) => {
  const { start } = await scratch(t);
  const first = await start();
  await query(first.url, "create table kept as select 1 as n");
  await first.stop();
  assert.deepEqual(await query((await start()).url, "select n from kept"), [{ n: 1 }]);
});

test("a stop ends the server, even with connections open, and may be repeated", async (t) => {
  const { start } = await scratch(t, initialised);
  const { url, pid, stop } = await start();
  const waiting = assert.rejects(query(url, "select pg_sleep(600)"), /terminating connection/);
  await until(async () => (await query(url, "select 1 from pg_stat_activity where wait_event = 'PgSleep'")).length > 0);
  await Promise.all([stop(), stop()]);
  await stop();
  await waiting;
  assert.equal(await runs(pid), false);
});

test("committed data survives kill -9 of the server, and its owner is notified", async (t) => {
  const { start } = await scratch(t, initialised);
  const first = await start({ durable: true });
  await query(first.url, "create table kept as select 1 as n");
  process.kill(first.pid, "SIGKILL");
  assert.equal(await first.exited, "ended by SIGKILL");
  assert.deepEqual(await query((await start()).url, "select n from kept"), [{ n: 1 }]);
});

test("the server ends by itself when its owner is killed with -9", async (t) => {
  const { owner } = await scratch(t, initialised);
  const first = owner();
  const server = await first.started;
  assert.ok("pid" in server);
  await first.kill();
  await until(async () => !(await runs(server.pid)));
});

test("a start right after kill -9 of the owner finds all committed data", async (t) => {
  const { start, owner } = await scratch(t, initialised);
  const first = owner();
  const server = await first.started;
  assert.ok("pid" in server);
  await query(server.url, "create table kept as select 1 as n");
  await first.kill();
  assert.deepEqual(await query((await start()).url, "select n from kept"), [{ n: 1 }]);
  assert.equal(await runs(server.pid), false);
});

test("a server that outlived its owner is ended by the next start", {
  skip: process.platform !== "linux" && "needs Linux",
}, async (t) => {
  const { dataDir, start, owner } = await scratch(t, initialised);
  const first = owner();
  const server = await first.started;
  assert.ok("pid" in server);
  for (const guard of guardsOf(dataDir)) process.kill(guard, "SIGKILL");
  await first.kill();
  assert.equal(await runs(server.pid), true);
  await start();
  assert.equal(await runs(server.pid), false);
});

test("a frozen server that outlived its owner does not block the next start", {
  timeout: 60_000,
}, async (t) => {
  const { start, owner } = await scratch(t, initialised);
  const first = owner();
  const server = await first.started;
  assert.ok("pid" in server);
  process.kill(server.pid, "SIGSTOP");
  await first.kill();
  await start();
  assert.equal(await runs(server.pid), false);
});

test("a PostgreSQL lock file with the process id of another running program is ignored", async (t) => {
  const { dataDir, start } = await scratch(t, initialised);
  const first = await start();
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  const content = readFileSync(file, "utf8");
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  writeFileSync(file, content.replace(/^\d+/, String(process.ppid)));
  await start();
});

test("a killed first start leaves nothing that breaks the next one", async (t) => {
  const { dataDir, start, owner } = await scratch(t);
  const home = join(dataDir, "postgres");
  const first = owner();
  await until(() => existsSync(home) && readdirSync(home).some((name) => name.startsWith("new-")));
  await first.kill();
  assert.equal(existsSync(join(home, "cluster")), false);
  await query((await start()).url, "select 1");
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith("new-")),
    [],
  );
});

test("a second owner is refused while the first lives, in this process and in another", async (t) => {
  const { start, owner } = await scratch(t, initialised);
  const first = await start();
  await assert.rejects(start(), inUse);
  const second = await owner().started;
  assert.match("error" in second ? second.error : "", new RegExp(`is in use by process ${process.pid}\\b`));
  await query(first.url, "select 1");
});

test("exactly one of many concurrent starts succeeds", async (t) => {
  const { owner } = await scratch(t);
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => owner().started));
  assert.equal(outcomes.filter((outcome) => "url" in outcome).length, 1);
  for (const outcome of outcomes) if ("error" in outcome) assert.match(outcome.error, /is in use by/);
});

test("a failed start reports the reason and unlocks the folder", async (t) => {
  const { dataDir, start } = await scratch(t, initialised);
  await (await start()).stop();
  const file = join(dataDir, "postgres", "cluster", "PG_VERSION");
  writeFileSync(file, "9\n");
  await assert.rejects(start(), (error: Failure) => error.code === "UNAVAILABLE" && /version 9/.test(error.message));
  writeFileSync(file, "18\n");
  await start();
});

test("a data folder with a path too long for a socket works", async (t) => {
  const { dataDir, start } = await scratch(t);
  const deep = join(dataDir, "deep/".repeat(30));
  await query((await start({ dataDir: deep })).url, "select 1");
});

test("a program that does not stop its database still ends", async (t) => {
  const { dataDir } = await scratch(t, initialised);
  const module = JSON.stringify(new URL("./embedded.ts", import.meta.url).href);
  const script = `import { startEmbedded } from ${module}; await startEmbedded({ dataDir: process.argv[1] });`;
  execFileSync(process.execPath, ["--input-type=module", "-e", script, dataDir], { timeout: 30_000 });
});

/** The processes that watch over the owner of a server. */
function guardsOf(dataDir: string): number[] {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).startsWith("/bin/sh\0-c") && commandLine(pid).includes(dataDir))
    .map(Number);
}
