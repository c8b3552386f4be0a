// npm run bench -- snapshot [--seconds 60] [--rounds 10] [--items 0]: what an item costs while another program holds an old snapshot, so
// that PostgreSQL removes no dead row. A producer keeps a queue filled, and workers drain it. The rate depends on the rest of the
// machine; CPU time and the index entries read for each item do not. A machine that is too busy to end many items while the snapshot is held
// begins with this many that have ended.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/platform/db/database.ts";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { connection } from "../routing/http-connection.mjs";
import { nextItems } from "../routing/item.mjs";
import { completeAndLease, management, routeBatch } from "../routing/ours/api.mjs";
import { authorized, startService } from "../routing/ours/service.mjs";
import { startCpuTime } from "../scale/cpu-time.mjs";

const workers = 4;
const batchSize = 50;
/** The producer waits while more items wait. */
const depthMax = 2000;
const endedAtOnce = 5000;
/** The intervals before the snapshot. The first one contains the compilation of the service. */
const roundsBefore = 3;

export const defaults = { seconds: 60, rounds: 10, items: 0 };

export async function bench({ seconds, rounds, items }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir, maxConnections: 100 });
  const db = openDatabase(database.url, { maxConnections: 2, statementMs: 3_600_000 });
  const service = await startService({ databaseUrl: database.url, settings: { "server.processes": "1" } });
  try {
    const load = await startLoad(service.port);
    const rows = [];
    const measure = async (name) => {
      rows.push(await measureInterval(name, { sql: db.sql, pid: service.pid, load, seconds }));
      print(rows.at(-1));
    };
    for (let nth = 1; nth <= roundsBefore; nth++) await measure(`before ${nth}`);
    await db.transaction(async (tx) => {
      await tx`set transaction isolation level repeatable read`;
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`select count(*) from pools`;
      await endItems(db, load.poolId, items);
      for (let nth = 1; nth <= rounds; nth++) await measure(`held ${nth}`);
    });
    await measure("after");
    await load.stop();
    const base = rows[roundsBefore - 1];
    const share = (row) => (base.databaseUs + base.serviceUs) / (row.databaseUs + row.serviceUs);
    const last = rows.at(-2);
    console.log(
      `items for each CPU second in the last interval, in relation to the one before: ${share(last).toFixed(2)}`,
    );
    return { rows, share: share(last) };
  } finally {
    await service.stop();
    await db.close();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function startLoad(port) {
  const open = () => connection(port, { headers: authorized });
  const setup = open();
  const poolId = await management(setup).createPool();
  const load = { routed: 0, completed: 0, isDone: false };

  async function produce() {
    const own = open();
    while (!load.isDone) {
      if (load.routed - load.completed > depthMax) {
        await wait(2);
        continue;
      }
      await routeBatch(own, poolId, nextItems(batchSize));
      load.routed += batchSize;
    }
    own.close();
  }

  async function work() {
    const own = open();
    let leased = [];
    while (!load.isDone) {
      const next = await completeAndLease(own, poolId, leased, batchSize);
      load.completed += leased.length;
      leased = next;
    }
    own.close();
  }

  const all = Promise.all([produce(), ...Array.from({ length: workers }, work)]);
  all.catch(() => {});
  return {
    poolId,
    completed: () => load.completed,
    async stop() {
      load.isDone = true;
      await all;
      setup.close();
    },
  };
}

/**
 * Inserts items in front of a queue, leases and deletes them before anybody sees them, which leaves the dead rows and index entries of
 * as many ended items.
 */
async function endItems(db, poolId, count) {
  for (let from = 0; from < count; from += endedAtOnce) {
    const range = [from, from + endedAtOnce - 1];
    await db.transaction(async (tx) => {
      const inserted = tx`where id between lpad(${String(range[0])}, 26, '0') and lpad(${String(range[1])}, 26, '0')`;
      await tx`
        insert into queue_items (tenant_id, id, pool_id, recipient_id, state, delivery, priority, rank, expires_at, type, key,
          attributes, requirements, payload, evidence, decided_priority, outcome, decided_for, snapshot_digest, seed, hold_reason, attempt)
        select tenant_id, lpad(n::text, 26, '0'), pool_id, id, 'ready', 'pull', 0, n, now() + interval '1 day', 'lead', 'account',
          repeat(' ', 200), '{}', repeat(' ', 200), '{}', 0, 'queued', '', '', 0, '', 1
        from recipients, generate_series(${range[0]}::int, ${range[1]}::int) n where pool_id = ${poolId}`;
      await tx`update queue_items set state = 'leased', lease_token = 'x', lease_until = now(), leased_at = now() ${inserted}`;
      await tx`delete from queue_items ${inserted}`;
    });
  }
}

async function measureInterval(name, { sql, pid, load, seconds }) {
  const backends = async () =>
    (await sql`select pid from pg_stat_activity where datname = current_database()`).map((row) => row.pid);
  const entries = async () => {
    const rows = await sql`select indexrelname as name, idx_tup_read::float8 as entries from pg_stat_user_indexes`;
    return new Map(rows.map((row) => [row.name, row.entries]));
  };
  const before = { completed: load.completed(), atMs: performance.now(), entries: await entries() };
  const [databaseCpu, serviceCpu] = [await startCpuTime(backends), await startCpuTime(async () => [pid])];
  await wait(seconds * 1000);
  const items = load.completed() - before.completed;
  const perItem = (value) => value / items;
  const indexes = [...(await entries())]
    .map(([index, count]) => ({ index, entries: perItem(count - before.entries.get(index)) }))
    .sort((a, b) => b.entries - a.entries);
  return {
    name,
    itemsPerS: items / ((performance.now() - before.atMs) / 1000),
    databaseUs: perItem((await databaseCpu()) * 1e6),
    serviceUs: perItem((await serviceCpu()) * 1e6),
    entries: indexes.reduce((total, each) => total + each.entries, 0),
    indexes: indexes.slice(0, 5),
  };
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function print({ name, itemsPerS, databaseUs, serviceUs, entries, indexes }) {
  const most = indexes.map((each) => `${each.index} ${each.entries.toFixed(1)}`).join(", ");
  console.log(
    `${name.padEnd(9)} ${Math.round(itemsPerS).toString().padStart(6)} items/s; for each item ` +
      `${Math.round(databaseUs)} µs of the database, ${Math.round(serviceUs)} µs of the service, ${entries.toFixed(1)} index entries (${most})`,
  );
}
