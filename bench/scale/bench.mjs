// npm run bench -- scale [--seconds 5] [--rounds 3]: how the service grows by processes of one machine, and by nodes of one
// database. Every caller routes items one by one, and leases and completes what waits. The CPU time of the service and of the
// database per item counts: on a machine with fewer processors than processes, the rate says nothing about more of them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { connection } from "../routing/http-connection.mjs";
import { nextItem } from "../routing/item.mjs";
import { completeAndLease, management, route } from "../routing/ours/api.mjs";
import { authorized, startService } from "../routing/ours/service.mjs";

const sizes = [1, 2, 3];
const callers = 48;
const perCycle = 4;
const sampleMs = 100;
/** A process compiles its code while it serves its first thousands of calls. */
const warmupMs = 4000;

const shapes = {
  processes: (n, databaseUrl) => [{ databaseUrl, settings: { "server.processes": String(n) } }],
  nodes: (n, databaseUrl) => Array.from({ length: n }, () => ({ databaseUrl, settings: { "server.processes": "1" } })),
};

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir, maxConnections: 300 });
  const sql = postgres(database.url, { host: socketHost(database.url), max: 1, onnotice: () => {} });
  try {
    const measured = Object.keys(shapes).flatMap((shape) => sizes.map((n) => ({ shape, n, results: [] })));
    // Each round covers all cases, so that temporary load on the machine affects them equally.
    for (let round = 0; round < rounds; round++) {
      for (const each of measured) each.results.push(await measure(each, { sql, database, seconds, round }));
    }
    const rows = measured.map(({ shape, n, results }) => ({ shape, n, ...sum(results) }));
    for (const row of rows) {
      const one = rows.find(({ shape, n }) => shape === row.shape && n === 1);
      row.toOne = (one.serviceCpuS + one.databaseCpuS) / (row.serviceCpuS + row.databaseCpuS);
    }
    print(rows);
    return { rows };
  } finally {
    await sql.end();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure({ shape, n }, { sql, database, seconds, round }) {
  const name = `${shape}_${n}_${round}`;
  await sql`create database ${sql(name)}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const services = [];
  try {
    for (const options of shapes[shape](n, url.href)) services.push(await startService(options));
    const setup = connection(services[0].port, { headers: authorized });
    const poolId = await management(setup).createPool();
    setup.close();
    const pids = services.flatMap(({ pid }) => [pid, ...childrenOf(pid)]);
    const load = { items: 0, isDone: false };
    const all = Array.from({ length: callers }, (_, i) => call(services[i % services.length].port, poolId, load));
    await wait(warmupMs);
    const before = {
      items: load.items,
      atMs: performance.now(),
      cpu: pids.map(cpuS),
      database: cpuOfTree(database.pid),
    };
    const waits = await sampleWaits(sql, name, seconds);
    const tookS = (performance.now() - before.atMs) / 1000;
    const items = load.items - before.items;
    const serviceS = pids.reduce((total, pid, i) => total + cpuS(pid) - before.cpu[i], 0);
    const databaseS = cpuOfTree(database.pid) - before.database;
    load.isDone = true;
    await Promise.all(all);
    return { items, tookS, serviceS, databaseS, waits };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await sql`drop database ${sql(name)} with (force)`;
  }
}

/** Routes some items, leases as many, and completes those of the cycle before, until the load is done. */
async function call(port, poolId, load) {
  const own = connection(port, { headers: authorized });
  let leased = [];
  while (!load.isDone) {
    for (let i = 0; i < perCycle; i++) await route(own, poolId, nextItem());
    const next = await completeAndLease(own, poolId, leased, perCycle);
    load.items += leased.length;
    leased = next;
  }
  own.close();
}

/** Counts what the connections of a database wait for, with the statement if it is a lock. */
async function sampleWaits(sql, name, seconds) {
  const counts = {};
  for (const untilMs = performance.now() + seconds * 1000; performance.now() < untilMs; await wait(sampleMs)) {
    const rows = await sql`
      select coalesce(wait_event_type || ':' || wait_event, 'CPU') as event,
        case when wait_event_type like '%Lock' then left(regexp_replace(query, '\\s+', ' ', 'g'), 60) else '' end as query
      from pg_stat_activity where datname = ${name} and state = 'active'`;
    for (const { event, query } of rows) {
      const key = `${event} ${query}`.trim();
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return counts;
}

function childrenOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** The CPU time of a process. A tick is 10 ms on common Linux systems. With `reaped`, also that of its ended children. */
function cpuS(pid, reaped = false) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
  return (fields[11] + fields[12] + (reaped ? fields[13] + fields[14] : 0)) / 100;
}

function cpuOfTree(pid) {
  return childrenOf(pid).reduce(
    (total, child) => {
      try {
        return total + cpuOfTree(child);
      } catch {
        return total;
      }
    },
    cpuS(pid, true),
  );
}

function sum(results) {
  const total = (name) => results.reduce((all, each) => all + each[name], 0);
  const waits = {};
  for (const each of results)
    for (const [key, count] of Object.entries(each.waits)) waits[key] = (waits[key] ?? 0) + count;
  const thousands = total("items") / 1000;
  return {
    itemsPerS: total("items") / total("tookS"),
    serviceCpuS: total("serviceS") / thousands,
    databaseCpuS: total("databaseS") / thousands,
    waits: Object.entries(waits)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4),
  };
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function print(rows) {
  const cells = rows.map((row) => [
    ...[row.shape, String(row.n), Math.round(row.itemsPerS).toLocaleString("en")],
    ...[row.serviceCpuS.toFixed(2), row.databaseCpuS.toFixed(2), row.toOne.toFixed(2)],
    row.waits.map(([key, count]) => `${key} (${count})`).join(", "),
  ]);
  const table = [
    ["", "n", "items/s", "service s/1,000", "database s/1,000", "items per CPU s to n = 1", "waits"],
    ...cells,
  ];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, i) => (i === 0 || i === 6 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join("  ")
        .trimEnd(),
    );
}
