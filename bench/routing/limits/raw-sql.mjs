// The physical limit: the same rows through postgres.js, without rules, keys or a protocol.
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { socketHost } from "../../../src/platform/db/embedded/socket-host.ts";
import { nextItem, nextItems } from "../item.mjs";
import { inBatches, lanes } from "../lanes.mjs";
import { drainInLoops } from "../pacing.mjs";
import { poolSize } from "../pg-settings.mjs";

const tenant = "01J0000000000000000000000T";
const pool = "01J0000000000000000000000P";
const rowsPerStatement = 500;

export async function open({ databaseUrl }) {
  const sql = postgres(databaseUrl, { host: socketHost(databaseUrl), max: poolSize, onnotice: () => {} });
  await createTable(sql);
  const batch = { items: rowsPerStatement, callers: 4, add: () => insertMany(sql, rowsPerStatement) };

  return {
    accepts: [
      { ...lanes.single, name: "insert, one row", add: () => insertOne(sql) },
      { ...batch, form: lanes.batch100.form, name: "insert, 500 rows" },
      { ...batch, form: lanes.batch1000.form, name: "insert, 500 rows" },
    ],
    drains: lanes.workers.flatMap((workers) => [
      drainLane(sql, workers, "single", 1),
      drainLane(sql, workers, "batched", rowsPerStatement),
    ]),
    fill: (count) => inBatches(count, (size) => insertMany(sql, size)),
    clear: () => sql`truncate items`,
    waiting: async () => (await sql`select count(*)::int as count from items`)[0].count,
    close: () => sql.end({ timeout: 1 }),
  };
}

async function createTable(sql) {
  await sql`
    create table items (
      tenant_id text not null,
      id text not null,
      pool_id text not null,
      type text not null,
      key text not null,
      attributes jsonb not null,
      payload jsonb not null,
      priority int not null default 0,
      state smallint not null default 0,
      attempts smallint not null default 0,
      ready_at timestamptz not null default now(),
      created_at timestamptz not null default now(),
      lease_token text,
      leased_until timestamptz,
      primary key (tenant_id, id)
    )`;
  await sql`create index items_ready on items (tenant_id, pool_id, priority, id) where state = 0`;
}

let made = 0;
const run = Date.now().toString(36);
// Sortable like real ids: a random primary key would cost page reads that no other participant has.
const nextId = () => `${run}-${String(made++).padStart(17, "0")}`;

function insertOne(sql) {
  const { type, key, attributes, payload } = nextItem();
  return sql`
    insert into items (tenant_id, id, pool_id, type, key, attributes, payload)
    values (${tenant}, ${nextId()}, ${pool}, ${type}, ${key}, ${sql.json(attributes)}, ${sql.json(payload)})`;
}

function insertMany(sql, count) {
  const items = nextItems(count);
  return sql`
    insert into items (tenant_id, id, pool_id, type, key, attributes, payload)
    select ${tenant}, id, ${pool}, type, key, attributes, payload
    from unnest(
      ${items.map(nextId)}::text[],
      ${items.map(({ type }) => type)}::text[],
      ${items.map(({ key }) => key)}::text[],
      ${items.map(({ attributes }) => JSON.stringify(attributes))}::text[]::jsonb[],
      ${items.map(({ payload }) => JSON.stringify(payload))}::text[]::jsonb[]
    ) as given (id, type, key, attributes, payload)`;
}

/**
 * Two commits, because a lease is held during the work: mark as leased, then delete. The deletion of one batch runs
 * concurrently with the lease of the next, like the fastest peers do it.
 */
function drainLane(sql, workers, batching, size) {
  const drain = (pace) => {
    const deletions = [];
    const take = async (worker) => {
      const token = randomUUID();
      const ids = await lease(sql, token, size);
      await deletions[worker];
      if (ids.length > 0) deletions[worker] = deleteLeased(sql, token, ids);
      return ids.length;
    };
    return drainInLoops({ take, finish: () => Promise.all(deletions), workers, ...pace });
  };
  return { form: lanes.drainForm(workers, batching), name: `lease ${size} (update) + delete`, drain };
}

async function lease(sql, token, size) {
  const leased = await sql`
    update items set state = 1, attempts = attempts + 1, lease_token = ${token}, leased_until = now() + interval '30 s'
    where ctid = any(array(
      select ctid from items
      where tenant_id = ${tenant} and pool_id = ${pool} and state = 0
      order by priority, id limit ${size} for update skip locked))
    returning id, type, key, attributes, payload`;
  return leased.map(({ id }) => id);
}

function deleteLeased(sql, token, ids) {
  return sql`
    delete from items where tenant_id = ${tenant} and id = any(${ids}::text[]) and lease_token = ${token}`.execute();
}
