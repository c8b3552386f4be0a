// npm run bench -- scale [--items 4000] [--rounds 5]: how the service grows by processes of one machine, and by nodes of one
// database. Callers route items one by one, and lease and complete what waits; each process or node has as many callers and as much
// work. The CPU time of the service and of the database per item counts: on a machine with fewer processors than processes, the rate
// says nothing about more of them. There, each node also gets fewer calls at a time, its batches shrink, and the commits an item
// grow: a ratio is that of more nodes only where the commits are about the same.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/platform/db/database.ts";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { connection } from "../routing/http-connection.mjs";
import { nextItem } from "../routing/item.mjs";
import { completeAndLease, management, route } from "../routing/ours/api.mjs";
import { authorized, startService } from "../routing/ours/service.mjs";
import { childrenOf, startCpuTime } from "./cpu-time.mjs";
import { sampleWaits, sumWaits } from "./wait-samples.mjs";

const sizes = [1, 2, 3];
/** Enough that a node's statements carry batches. */
const callersEach = 64;
const perCycle = 4;
/** A process compiles its code while it serves its first thousands of calls. */
const warmupItemsEach = 4000;

const shapes = {
  processes: (n, databaseUrl) => [{ databaseUrl, settings: { "server.processes": String(n) } }],
  nodes: (n, databaseUrl) => Array.from({ length: n }, () => ({ databaseUrl, settings: { "server.processes": "1" } })),
};

export const defaults = { items: 4000, rounds: 5 };

export async function bench({ items, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir, maxConnections: 300 });
  const db = openDatabase(database.url, { maxConnections: 2 });
  const { sql } = db;
  try {
    // One process and one node are the same case.
    const cases = Object.keys(shapes).flatMap((shape) => sizes.map((n) => ({ shape, n, results: [] })));
    const measured = cases.filter(({ shape, n }) => n > 1 || shape === "nodes");
    // Each round covers all cases, in alternating order, so that other load on the machine affects them equally.
    for (let round = 0; round < rounds; round++) {
      const ordered = round % 2 === 0 ? measured : measured.toReversed();
      for (const each of ordered) {
        const result = await measure(each, { sql, database, items, round });
        each.results.push(result);
        console.log(`round ${round + 1}: ${each.n} ${each.shape}, ${cpuMs(result).toFixed(2)} CPU ms an item`);
      }
    }
    const one = measured.find(({ n }) => n === 1);
    const rows = measured.map((each) => summaryOf(each, one));
    print(rows);
    return { rows };
  } finally {
    await db.close();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure({ shape, n }, { sql, database, items, round }) {
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
    const load = { items: 0, isDone: false };
    const all = Array.from({ length: callersEach * n }, (_, i) =>
      call(services[i % services.length].port, poolId, load).catch((error) => {
        load.isDone = true;
        throw error;
      }),
    );
    const until = async (count) => {
      while (load.items < count && !load.isDone) await wait(5);
    };
    await until(warmupItemsEach * n);
    const supervised = shape === "processes" && n > 1;
    const parents = services.map(({ pid }) => pid);
    const workers = supervised ? parents.flatMap(childrenOf) : parents;
    const backends = async () => {
      const rows = await sql`select pid from pg_stat_activity where datname = ${name}`;
      return rows.map(({ pid }) => pid);
    };
    const statistics = () => readStatistics(sql, name);
    const before = { items: load.items, atMs: performance.now(), statistics: await statistics() };
    const stops = {
      service: await startCpuTime(async () => workers),
      supervisor: await startCpuTime(async () => (supervised ? parents : [])),
      database: await startCpuTime(backends),
    };
    let isOver = false;
    const sampling = sampleWaits(sql, name, () => isOver);
    await until(before.items + items * n);
    const done = load.items - before.items;
    const tookS = (performance.now() - before.atMs) / 1000;
    const cpu = {};
    for (const [part, stop] of Object.entries(stops)) cpu[part] = await stop();
    isOver = true;
    const waits = await sampling;
    load.isDone = true;
    await Promise.all(all);
    const after = await statistics();
    const counts = Object.fromEntries(
      Object.entries(after).map(([key, count]) => [key, count - before.statistics[key]]),
    );
    return { items: done, tookS, cpu, waits, counts };
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

async function readStatistics(sql, name) {
  const [row] = await sql`
    select xact_commit::int as commits, xact_rollback::int as rollbacks, deadlocks::int as deadlocks
    from pg_stat_database where datname = ${name}`;
  return { ...row };
}

const cpuMs = ({ items, cpu: { service, supervisor, database } }) => ((service + supervisor + database) * 1000) / items;

function summaryOf({ shape, n, results }, one) {
  const median = (of) => medianOf(results.map(of));
  const perItemMs = (part) => median(({ cpu, items }) => (cpu[part] * 1000) / items);
  const waits = sumWaits(results.map((each) => each.waits));
  const rate = median(({ items, tookS }) => items / tookS);
  const databaseMs = perItemMs("database");
  return {
    ...{ shape, n, itemsPerS: rate },
    ...{ serviceMs: perItemMs("service"), supervisorMs: perItemMs("supervisor"), databaseMs },
    // Of the same round, so that other load changes both.
    toOne: medianOf(results.map((each, round) => cpuMs(one.results[round]) / cpuMs(each))),
    toOneOfRounds: results.map((each, round) => cpuMs(one.results[round]) / cpuMs(each)),
    commits: median(({ counts, items }) => counts.commits / items),
    rollbacks: results.reduce((total, { counts }) => total + counts.rollbacks, 0),
    deadlocks: results.reduce((total, { counts }) => total + counts.deadlocks, 0),
    waits: waits.slice(0, 5),
    limits: limitsOf(rate, databaseMs, waits),
  };
}

/**
 * The rates at which something would be busy all the time, lowest first: what connections wait for one after the other, as long as it
 * takes the same share of an item's time, and the database's processors.
 */
function limitsOf(rate, databaseMs, waits) {
  const serial = waits.map(({ event, share }) => ({ limit: event, itemsPerS: rate / share }));
  const cores = availableParallelism();
  const processors = { limit: `${cores} processors for the database alone`, itemsPerS: (cores * 1000) / databaseMs };
  return [...serial, processors].sort((a, b) => a.itemsPerS - b.itemsPerS).slice(0, 3);
}

function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function print(rows) {
  const titles = ["n", "", "items/s", "service ms", "supervisor ms", "database ms", "commits", "to n = 1", "rounds"];
  const cells = rows.map((row) => [
    ...[String(row.n), row.shape, Math.round(row.itemsPerS).toLocaleString("en")],
    ...[row.serviceMs, row.supervisorMs, row.databaseMs, row.commits, row.toOne].map((value) => value.toFixed(3)),
    row.toOneOfRounds.map((value) => value.toFixed(2)).join(" "),
  ]);
  const table = [titles, ...cells];
  const widths = titles.map((_, column) => Math.max(...table.map((row) => row[column].length)));
  console.log("\nCPU time and commits for each item, medians; items for each CPU second in relation to one node:");
  for (const row of table) console.log(row.map((cell, i) => cell.padStart(widths[i])).join("  "));
  for (const { n, shape, limits, waits, rollbacks, deadlocks } of rows) {
    const texts = limits.map(({ limit, itemsPerS }) => `${limit}: ${Math.round(itemsPerS).toLocaleString("en")}/s`);
    const shares = waits.map(({ event, share }) => `${event} ${Math.round(share * 100)} %`);
    console.log(
      `\n${n} ${shape}: busy in ${shares.join(", ") || "nothing"}; ${rollbacks} rollbacks, ${deadlocks} deadlocks`,
    );
    console.log(`  limits by extrapolation: ${texts.join("; ")}`);
  }
}
