// Reads and writes: bare node:http, bare Fastify, and our service with key authentication and the whole chain.
import { execFile, fork, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { migrate } from "../../src/platform/db/migrate.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const key = "sk_bench_kernel_0123456789abcdef0123456789abcdef";
const body = JSON.stringify({
  type: "order.paid",
  subject: "order-4711",
  data: { amount: 4200, currency: "EUR", items: 3 },
});
const json = { "content-type": "application/json" };
const authorized = { ...json, "x-api-key": key };

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  const started = [];
  try {
    await migrate(database.url, join(root, "migrations"));
    const us = await startUs(database.url);
    started.push(us.child);
    const [{ id: tenantId }] = await query(database.url, (sql) => sql`select id from tenants where platform`);
    const eventId = await publishOne(us.port);
    const peerEnvironment = {
      DATABASE_URL: database.url,
      DATABASE_HOST: socketHost(database.url) ?? "",
      TENANT_ID: tenantId,
    };
    const fastify = await startPeer("fastify.mjs", peerEnvironment);
    const bare = await startPeer("bare-http.mjs", {});
    started.push(fastify.child, bare.child);

    const post = (path, headers, uniqueKey = false) => ({ method: "POST", path, headers, body, uniqueKey });
    const processOf = new Map([us, fastify, bare].map(({ port, child }) => [port, child.pid]));
    const scenarios = [
      ["read", "bare node:http", bare.port, { method: "GET", path: "/", headers: {} }],
      ["read", "bare Fastify", fastify.port, { method: "GET", path: `/events/${eventId}`, headers: {} }],
      ["read", "Switchyard REST", us.port, { method: "GET", path: `/api/events/${eventId}`, headers: authorized }],
      [
        "read",
        "Switchyard Connect",
        us.port,
        {
          method: "POST",
          path: "/service.api.EventService/GetEvent",
          headers: authorized,
          body: JSON.stringify({ eventId }),
        },
      ],
      ["write", "bare node:http", bare.port, post("/", json)],
      ["write", "bare Fastify", fastify.port, post("/events", json)],
      ["write", "Switchyard REST", us.port, post("/api/events", authorized, true)],
      ["write", "Switchyard Connect", us.port, post("/service.api.EventService/PublishEvent", authorized, true)],
    ];
    const measured = scenarios.map(() => []);
    // Each round covers all participants, so that temporary load on the machine affects them equally.
    for (let round = 0; round < rounds; round++) {
      for (const [i, [, , port, request]] of scenarios.entries()) {
        const pid = processOf.get(port);
        const { stdout } = await run(process.execPath, [
          join(root, "bench/load.mjs"),
          JSON.stringify({ port, pid, connections: 64, seconds, request }),
        ]);
        measured[i].push(JSON.parse(stdout));
      }
    }
    const rows = scenarios.map(([kind, name], i) => ({ kind, name, ...median(measured[i]) }));
    for (const row of rows) {
      const peer = rows.find((each) => each.kind === row.kind && each.name === "bare Fastify");
      row.toFastify = row.perSecond / peer.perSecond;
      row.p99ToFastify = row.p99Ms / peer.p99Ms;
      row.cpuToFastify = row.cpuUs / peer.cpuUs;
    }
    const idleMb = residentMb(us.child.pid);
    for (const child of started) child.kill("SIGTERM");
    const startMs = await restartMs(database.url);
    print(rows, { startMs, ...us, idleMb });
    return { rows, startMs, idleAfterStartMb: us.idleMb, residentAfterLoadMb: idleMb };
  } finally {
    for (const child of started) child.kill("SIGKILL");
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Starts the service as users do, on the bench's database. */
async function startUs(databaseUrl) {
  const settings = {
    "server.http_addr": "127.0.0.1:0",
    "server.internal_addr": "127.0.0.1:0",
    "server.metrics_addr": "127.0.0.1:0",
    "api.addr": "127.0.0.1:0",
    "auth.api_key_enabled": "true",
    "auth.bootstrap_api_key": key,
    "database.url": databaseUrl,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--max-semi-space-size=32", join(root, "src/cli/main.ts"), "serve", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /serving at http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
    child.once("exit", () => reject(new Error(`the service ended: ${text}`)));
  });
  const readyMs = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return { child, port, readyMs, idleMb: residentMb(child.pid) };
}

async function restartMs(databaseUrl) {
  const { child, readyMs } = await startUs(databaseUrl);
  child.kill("SIGTERM");
  return readyMs;
}

function startPeer(file, environment) {
  const child = fork(join(root, "bench/peers", file), { env: { ...process.env, ...environment } });
  return new Promise((resolve, reject) => {
    child.once("message", ({ port }) => resolve({ child, port }));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

async function publishOne(port) {
  const response = await fetch(`http://127.0.0.1:${port}/api/events`, { method: "POST", headers: authorized, body });
  return (await response.json()).data.id;
}

async function query(url, work) {
  const sql = postgres(url, { host: socketHost(url), max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

function median(results) {
  const sorted = results.toSorted((a, b) => a.perSecond - b.perSecond);
  const errors = results.reduce((sum, each) => sum + each.errors, 0);
  return { ...sorted[sorted.length >> 1], errors };
}

function residentMb(pid) {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1];
  return Math.round(Number(kb) / 1024);
}

function print(rows, { startMs, idleMb, residentMb: _ }) {
  const cells = rows.map((row) => [
    row.kind,
    row.name,
    Math.round(row.perSecond).toLocaleString("en"),
    row.p50Ms.toFixed(1),
    row.p99Ms.toFixed(1),
    row.toFastify.toFixed(2),
    row.p99ToFastify.toFixed(2),
    String(Math.round(row.cpuUs)),
    row.cpuToFastify.toFixed(2),
    String(row.errors),
  ]);
  const table = [["", "", "req/s", "p50 ms", "p99 ms", "x Fastify", "p99 x", "cpu µs", "cpu x", "errors"], ...cells];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  "));
  console.log(`\nready after ${Math.round(startMs)} ms on existing data; ${idleMb} MB resident after the load`);
}
