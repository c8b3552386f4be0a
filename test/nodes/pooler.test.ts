import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { serve } from "../../src/app/serve.ts";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { createSignals, openDatabase } from "../../src/platform/db/index.ts";
import { findPgBouncer, keepsStatements, type PoolMode, startPgBouncer } from "../harness/pgbouncer.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect } from "../harness/postgres-server.ts";
import { overridesOf, startService, type TestSettings } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, tenantAt } from "../routing/tenant-fixture.ts";

const settings = { "auth.bootstrap_api_key": "sk_test_pooler_0123456789abcdef" };

/** A migrated database, and its URL through a PgBouncer. */
async function pooled(t: TestContext, mode: PoolMode, poolSize?: number) {
  const { url, sql, drop } = await freshDatabase();
  const pooler = await startPgBouncer(url, mode, poolSize);
  t.after(async () => {
    await pooler.stop();
    await drop();
  });
  return { direct: url, sql, url: pooler.through(url) };
}

/** Expects that a node does not start and that it names the setting. */
async function refusesToStart(wanted: TestSettings, message: RegExp): Promise<void> {
  const config = loadConfig({ overrides: overridesOf({ ...settings, ...wanted }) });
  await assert.rejects(serve(config), (error: Error) => {
    assert.ok(error instanceof ConfigError, error.stack);
    assert.match(error.message, message);
    return true;
  });
}

/** Routes on a node without the pooler and works on one behind it, which hears of the items by signals. */
async function work(t: TestContext, direct: string, behind: TestSettings): Promise<void> {
  const near = await startService(settings, direct);
  const far = await startService({ ...settings, ...behind });
  t.after(() => Promise.all([near.stop(), far.stop()]));
  const tenant = await newTenant(near);
  const worker = tenantAt(far, tenant);
  const pool = await tenant.pool({});
  const waiting = worker.lease(pool, { max_items: 10, wait_s: 20 });
  await tenant.routeAll(Array.from({ length: 5 }, () => ({ pool_id: pool, type: "task" })));
  const leased = await waiting;
  while (leased.length < 5) leased.push(...(await worker.lease(pool, { max_items: 10, wait_s: 5 })));
  const items = leased.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
  await worker.ok("POST", `/api/queues/${pool}/items:complete`, { items });
  assert.equal(new Set(items.map(({ queue_item_id }) => queue_item_id)).size, 5);
  assert.deepEqual(await worker.lease(pool, { max_items: 10 }), []);
}

const sessionLocks = `
  select count(*)::int as held from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;

test("a node behind a pooler in session mode accepts, leases and completes, and holds no lock", async (t) => {
  const { direct, url, sql } = await pooled(t, "session");
  await work(t, direct, { "database.url": url });
  await until(
    async () => (await sql.unsafe<[{ held: number }]>(sessionLocks))[0].held,
    (held) => held === 0,
  );
});

test("behind a pooler, every statement and every transaction has the settings of its pool", async (t) => {
  const { url } = await pooled(t, "session");
  const db = openDatabase(url, { maxConnections: 4, genericPlanConnections: 1, statementMs: 12_000 });
  t.after(() => db.close());
  const read = (sql: typeof db.sql) => sql<
    [{ timeout: string; plans: string; zone: string; name: string; jit: string }]
  >`
    select current_setting('statement_timeout') as timeout, current_setting('plan_cache_mode') as plans,
      current_setting('timezone') as zone, current_setting('jit') as jit, current_setting('application_name') as name`;
  const common = { timeout: "12s", zone: "UTC", jit: "off", name: "switchyard" };
  for (const [{ sql, transaction }, plans] of [
    [db, "auto"],
    [db.genericPlans, "force_generic_plan"],
  ] as const) {
    assert.deepEqual((await read(sql))[0], { ...common, plans });
    const isolated = await transaction(async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`;
      return [(await read(tx))[0], (await tx`select current_setting('transaction_isolation') as level`)[0]];
    });
    assert.deepEqual(isolated, [{ ...common, plans }, { level: "repeatable read" }]);
  }
  const rows = db.sql<{ n: number }[]>`select n, repeat('x', 1000) as filler from generate_series(1, 1000) n`;
  const first = await rows.firstRows(50_000);
  assert.deepEqual([first.isCut, first.at(-1)!.n < 60, (await read(db.sql))[0].timeout], [true, true, "12s"]);
  await assert.rejects(db.sql`select 1 / 0`, /division by zero/);
  assert.equal((await db.sql`select ${7}::int as n`)[0]!.n, 7);
});

test("a signal that a node sends through a pooler reaches a node behind it", async (t) => {
  const { url } = await pooled(t, "session");
  const nodes = [1, 2].map(() => openDatabase(url, { maxConnections: 2 }));
  const [near, far] = nodes.map((db) => createSignals(db));
  t.after(async () => {
    await Promise.all([near!.stop(), far!.stop()]);
    await Promise.all(nodes.map((db) => db.close()));
  });
  await Promise.all([near!.start(), far!.start()]);
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const heard = new Promise<void>((resolve) => far!.onWake(topic, resolve));
  near!.wake(topic);
  await heard;
});

test("behind a pooler in transaction mode a node works with a URL to listen at, or says what does not work", async (t) => {
  const { direct, url, sql } = await pooled(t, "transaction");
  if (!keepsStatements(await findPgBouncer())) {
    await refusesToStart({ "database.url": url }, /^database\.url: .*loses prepared statements\. Use PgBouncer 1\.21/);
    return;
  }
  await refusesToStart({ "database.url": url }, /^database\.url: .*Set database\.listen_url/);
  await work(t, direct, { "database.url": url, "database.listen_url": direct });
  const others = connect(url, 1);
  t.after(() => others.end());
  const [left] = await others.unsafe(`select count(*) from pg_listening_channels()`);
  assert.deepEqual(left, { count: 0 });
  assert.deepEqual((await sql.unsafe(sessionLocks))[0], { held: 0 });
});

test("a server that accepts settings and loses them is refused", async (t) => {
  const { url, sql, drop } = await freshDatabase();
  t.after(drop);
  await sql.unsafe(`
    create schema forgetful;
    create function forgetful.set_config(text, text, boolean) returns text language sql as 'select $2';
    alter database ${new URL(url).pathname.slice(1)} set search_path = forgetful, public, pg_catalog;
    alter database ${new URL(url).pathname.slice(1)} set intervalstyle = 'iso_8601'`);
  await refusesToStart({ "database.url": url }, /^database\.url: .*has lost its settings: .*intervalstyle=iso_8601/);
});

test("a pooler without a free connection to the server is an error in time, not a hang", async (t) => {
  const { url } = await pooled(t, "session", 1);
  const db = openDatabase(`${url}?connect_timeout=1`, { maxConnections: 2, genericPlanConnections: 1 });
  t.after(() => db.close());
  await db.sql`select 1`;
  await assert.rejects(db.genericPlans.sql`select 1`, { code: "CONNECT_TIMEOUT" });
  await db.sql`select 1`;
});
