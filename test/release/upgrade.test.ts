import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rename } from "node:fs/promises";
import { after, test } from "node:test";
import { findCaddy, startCaddy } from "../harness/caddy.ts";
import { readCompose, readDeploy } from "../harness/deployment.ts";
import { freePort } from "../harness/free-port.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { createReleases, type InstalledRelease } from "../harness/releases.ts";
import { sized } from "../harness/run-size.ts";
import { startCallers } from "../harness/steady-callers.ts";
import { until } from "../harness/until.ts";

/** How often a service is upgraded under load. */
const upgrades = sized(1, 20);
/** Calls come at a pace that leaves processors to the nodes that start. */
const pauseMs = 20;
const key = "sk_test_upgrade_0123456789abcdef";
const incompatible = 7;
const releases = await createReleases();
after(releases.remove);

async function readMetric({ baseUrl }: Pick<NodeProcess, "baseUrl">, name: RegExp): Promise<number> {
  const read = async () => (await fetch(`${baseUrl}/metrics`, { headers: { connection: "close" } })).text();
  const text = await read().catch(() => "");
  return Number(new RegExp(`^${name.source} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

async function createPool({ baseUrl }: Pick<NodeProcess, "baseUrl">): Promise<string> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ name: "orders", strategy: "first_accept" });
  const response = await fetch(`${baseUrl}/api/pools`, { method: "POST", headers, body });
  assert.equal(response.status, 200);
  return ((await response.json()) as { data: { id: string } }).data.id;
}

const routeTo = (poolId: string) => ({ pool_id: poolId, type: "order", payload: {} });

test(`two nodes behind a proxy are upgraded ${upgrades}x and rolled back without a failed call, old and new ones side by side`, async (t) => {
  const caddy = await findCaddy();
  if ("reason" in caddy) return t.skip(caddy.reason);
  const { url, sql, drop } = await freshDatabase();
  t.after(drop);
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
  const { services } = await readCompose();
  const drainS: string = services["node-1"].environment.SERVICE_SERVER_DRAIN_S;
  const running: NodeProcess[] = [];
  t.after(() => Promise.all(running.map((node) => node.kill())));
  const start = async (nth: number, { main }: InstalledRelease) => {
    const settings = { "database.url": url, "auth.bootstrap_api_key": key, "server.drain_s": drainS };
    running[nth] = await startNodeProcess({ ...settings, "server.http_addr": addresses[nth]! }, { main });
  };
  const first = await releases.install(0);
  for (const nth of [0, 1]) await start(nth, first);
  const site = `http://localhost:${await freePort()}`;
  const caddyfile = (await readDeploy("Caddyfile"))
    .replace("node-1:8080", addresses[0])
    .replace("node-2:8080", addresses[1]);
  const proxy = await startCaddy(caddy.program, caddyfile, { SITE_ADDRESS: site });
  t.after(proxy.stop);
  await until(async () => (await fetch(`${site}/ready`).catch(() => undefined))?.ok);

  const poolId = await createPool({ baseUrl: site });
  const body = routeTo(poolId);
  const callers = startCallers({
    baseUrl: site,
    method: "POST",
    path: "/api/route",
    key,
    body,
    callers: [2, 2, 0],
    pauseMs,
  });
  t.after(callers.stop);
  await callers.pass(20);
  const proxyErrors = () => (proxy.output().match(/^\{"level":"error".*$/gm) ?? []).join("\n");
  /** Replaces one node after the other. Both answer calls before the next one is replaced. */
  const roll = async (release: InstalledRelease) => {
    for (const nth of [0, 1]) {
      running[nth]!.process.kill("SIGTERM");
      assert.equal(await running[nth]!.exited, 0, running[nth]!.output());
      await start(nth, release);
      assert.equal(await readMetric(running[nth]!, new RegExp(`build_info\\{version="${release.version}"\\}`)), 1);
      for (const node of running) {
        const answered = await readMetric(node, /process_calls_total/);
        const isCalled = async () => (await readMetric(node, /process_calls_total/)) > answered + 5;
        await until(async () => callers.failures.length > 0 || (await isCalled()));
      }
      assert.deepEqual(callers.failures, [], proxyErrors());
    }
  };
  for (let nth = 1; nth <= upgrades; nth++) await roll(await releases.install(nth));
  await roll(await releases.install(upgrades - 1));
  assert.deepEqual(await callers.stop(), []);

  const { http1, http2 } = callers.calls;
  t.diagnostic(`${upgrades} upgrades, ${http1} calls over HTTP/1.1 and ${http2} over HTTP/2, none failed`);
  const [counted] = await sql`
    select count(*)::int as items, count(*) filter (where ${sql(`planted_${upgrades}`)} = 0)::int as expanded from queue_items`;
  assert.deepEqual(counted, { items: http1 + http2, expanded: http1 + http2 });
});

test(`SIGHUP starts the processes of the installed version: upgraded ${upgrades}x and rolled back without a failed call`, async (t) => {
  const { url, drop } = await freshDatabase();
  t.after(drop);
  let installed = await releases.install(0);
  const { folder, main } = installed;
  const settings = { "server.processes": "2", "database.url": url, "auth.bootstrap_api_key": key };
  const machine = await startNodeProcess(settings, { main });
  t.after(() => machine.kill());
  const body = routeTo(await createPool(machine));
  const { baseUrl } = machine;
  const callers = startCallers({ baseUrl, method: "POST", path: "/api/route", key, body, callers: [2, 2, 1], pauseMs });
  t.after(callers.stop);
  await callers.pass(20);
  /** Installs a release in the place of the one before, as npm does. */
  const install = async (release: InstalledRelease) => {
    await rename(folder, `${installed.folder}-before`);
    await rename(release.folder, folder);
    installed = release;
    machine.process.kill("SIGHUP");
    const versions = new RegExp(`build_info\\{version="${release.version}"\\}`);
    const isReplaced = async () => callers.failures.length > 0 || (await readMetric(machine, versions)) === 2;
    // Two processes start, and two wait for their callers.
    await until(isReplaced, Boolean, 180_000);
    await callers.pass(20);
    assert.deepEqual(callers.failures, [], machine.output());
  };
  for (let nth = 1; nth <= upgrades; nth++) await install(await releases.install(nth));
  await install(await releases.install(upgrades - 1));
  assert.deepEqual(await callers.stop(), []);
  const { http1, http2 } = callers.calls;
  t.diagnostic(`${upgrades} upgrades, ${http1} calls over HTTP/1.1 and ${http2} over HTTP/2, none failed`);
});

/** Runs `service migrate` of a release. */
function startMigration({ main }: InstalledRelease, url: string): { process: ChildProcess; ended: Promise<unknown[]> } {
  const child = spawn(
    process.execPath,
    [main, "migrate", "--set", `database.url=${url}`, "--set", "server.internal_addr="],
    { stdio: "inherit" },
  );
  process.once("exit", () => child.kill("SIGKILL"));
  return { process: child, ended: once(child, "exit") };
}

test("a running node goes on when the next version migrates, and stops in order when the one after it does", async (t) => {
  const { url, drop } = await freshDatabase();
  t.after(drop);
  const settings = { "database.url": url, "auth.bootstrap_api_key": key };
  const { main } = await releases.install(0);
  const node = await startNodeProcess(settings, { main });
  t.after(() => node.kill());
  assert.equal((await startMigration(await releases.install(1), url).ended)[0], 0);
  const poolId = await createPool(node);
  const route = async () => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const body = JSON.stringify(routeTo(poolId));
    return (await fetch(`${node.baseUrl}/api/route`, { method: "POST", headers, body })).status;
  };
  assert.equal(await route(), 200);
  assert.equal((await startMigration(await releases.install(2), url).ended)[0], 0);
  assert.equal(await node.exited, incompatible);
  const refusal = /too old for this database: version 0\.3\.0 has used it.*Install version 0\.3\.0/;
  assert.match(node.output(), refusal);
  await assert.rejects(
    startNodeProcess(settings, { main }),
    new RegExp(`ended with ${incompatible}:[^]*${refusal.source}`),
  );
});

test("a migration that is killed is rolled back by the database, and the next start applies it", async (t) => {
  const { url, sql, drop } = await freshDatabase();
  t.after(drop);
  const name = "9500_routing_slow.sql";
  const slow = await releases.install(1, { [name]: "create table planted_slow (n int); select pg_sleep(600);" });
  const migration = startMigration(slow, url);
  const sleeping = () =>
    sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  await until(async () => (await sleeping()).count > 0);
  migration.process.kill("SIGKILL");
  const quick = await releases.install(1, { [name]: "create table planted_slow (n int);" });
  assert.equal((await startMigration(quick, url).ended)[0], 0);
  assert.equal((await sql`select from schema_migrations where name = ${name}`).count, 1);
});
