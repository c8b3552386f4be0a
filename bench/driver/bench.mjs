// Compares our `sql` over pipelined pg with postgres.js, without other code, on one PostgreSQL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { openDatabase } from "../../src/platform/db/index.ts";

const connections = 10;
const payload = JSON.stringify({ order: "o-1", lines: [1, 2, 3], note: "x".repeat(300) });

const scenarios = [
  ["reads, 16 callers", 16, ({ sql }, n) => read(sql, n)],
  ["reads, 1 caller", 1, ({ sql }, n) => read(sql, n)],
  ["inserts of 100 rows, 2 callers", 2, ({ sql }, n) => insert(sql, n)],
  [
    "transactions of 2 reads, 8 callers",
    8,
    ({ transaction }, n) =>
      transaction(async (tx) => {
        await read(tx, n);
        await read(tx, n + 1);
      }),
  ],
];

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const server = await startEmbedded({ dataDir, durable: false });
  const db = openDatabase(server.url, { maxConnections: connections });
  const other = postgres(server.url, {
    host: socketHost(server.url),
    max: connections,
    transform: { column: { from: postgres.toCamel } },
  });
  const drivers = [
    ["pg", db],
    ["postgres", { sql: other, transaction: (work) => other.begin(work) }],
  ];
  try {
    await fill(db.sql);
    const results = [];
    for (const [scenario, callers, call] of scenarios) {
      for (let round = 0; round < rounds; round++) {
        // The drivers alternate, so that other load on the machine affects both.
        for (const [driver, on] of drivers) {
          const measured = await measure(seconds, callers, (n) => call(on, n));
          results.push({ scenario, driver, round, ...measured });
          await db.sql`truncate sink`;
        }
      }
      for (const [driver] of drivers) console.log(line(scenario, driver, results));
    }
    return results;
  } finally {
    await Promise.all([other.end(), db.close()]);
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fill(sql) {
  await sql`create table items (id int primary key, tenant_id text, created_at timestamptz, data jsonb)`;
  await sql`
    insert into items select n, 'tenant', now(), ${sql.json(JSON.parse(payload))} from generate_series(1, 10000) n`;
  await sql`create table sink (n int, data text)`;
}

function read(sql, n) {
  return sql`
    select id, tenant_id, created_at, data from items where id = ${1 + (n % 10000)} and tenant_id = ${"tenant"}`;
}

function insert(sql, n) {
  const numbers = Array.from({ length: 100 }, (_, at) => n + at).join("\n");
  const texts = Array.from({ length: 100 }, () => payload).join("\n");
  return sql`
    insert into sink select a::int, b
    from rows from (string_to_table(${numbers}, E'\n'), string_to_table(${texts}, E'\n')) as t(a, b)`;
}

async function measure(seconds, callers, call) {
  for (let n = 0; n < 200; n++) await call(n);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - startedAt < seconds * 1000) await call(done++);
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (done * 1000) / (performance.now() - startedAt), cpuUs: (user + system) / done };
}

/** The best round of each driver, because other load on the machine only slows a round down. */
function line(scenario, driver, results) {
  const own = results.filter((result) => result.scenario === scenario && result.driver === driver);
  const perSecond = Math.round(Math.max(...own.map((result) => result.perSecond)));
  const cpuUs = Math.min(...own.map((result) => result.cpuUs)).toFixed(1);
  return `${scenario.padEnd(36)} ${driver.padEnd(9)} ${String(perSecond).padStart(7)}/s ${cpuUs.padStart(7)} µs of CPU`;
}
