import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../src/platform/db/index.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, databaseUrl } from "../harness/postgres-server.ts";
import { until } from "../harness/until.ts";

/** A new database, opened both as the service opens it and as an administrator. */
async function scratch(t: TestContext, maxConnections: number) {
  const { url, sql: admin, drop } = await freshDatabase();
  const db = openDatabase(url, { maxConnections });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return { url, admin, db };
}

test("a connection lost inside a transaction fails only that transaction", async (t) => {
  const { db, admin } = await scratch(t, 4);
  for (let round = 0; round < 8; round++) {
    const lost = Array.from({ length: 4 }, () =>
      db.transaction(async (tx) => {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        await admin`select pg_terminate_backend(${row!.pid})`;
        return tx`select pg_sleep(10)`;
      }),
    );
    for (const { status } of await Promise.allSettled(lost)) assert.equal(status, "rejected");
    // Every pooled connection is usable again: use more concurrently than the pool has.
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => db.transaction((tx) => tx<{ n: number }[]>`select ${i}::int as n`)),
    );
    assert.deepEqual(
      responses.map(([row]) => row!.n),
      Array.from({ length: 12 }, (_, i) => i),
    );
  }
});

test("a transaction that lost its connection runs no more statements, not even on the replacement connection", async (t) => {
  const { db, admin } = await scratch(t, 1);
  await admin`create table kept (n int)`;
  for (let round = 0; round < 5; round++) {
    const lost = Promise.withResolvers<void>();
    const replaced = Promise.withResolvers<void>();
    let second: unknown;
    const transaction = db.transaction(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`insert into kept values (1) returning pg_backend_pid() as pid`;
      await admin`select pg_terminate_backend(${row!.pid})`;
      lost.resolve();
      // Meanwhile the pool has reconnected and others use the new connection.
      await replaced.promise;
      second = await tx`insert into kept values (2)`.catch((error) => error);
      await tx`insert into kept values (3)`;
    });
    await Promise.all([
      assert.rejects(transaction, { code: "CONNECTION_CLOSED" }),
      lost.promise
        .then(() => transaction.catch(() => {}))
        .then(() => db.sql`select 1`)
        .finally(replaced.resolve),
    ]);
    await new Promise(setImmediate);
    await db.transaction((tx) => tx`insert into kept values (4)`);
    assert.ok(second instanceof Error, "the statement after the loss failed");
  }
  assert.deepEqual([...(await admin`select n, count(*)::int as times from kept group by n`)], [{ n: 4, times: 5 }]);
});

test("a node that was disconnected from the database listens again, however long the outage was", async (t) => {
  const { db, url, admin } = await scratch(t, 2);
  const [{ name } = { name: "" }] = await admin<{ name: string }[]>`select current_database() as name`;
  let heard = 0;
  let listened = 0;
  await db.listen(
    "wakes",
    () => heard++,
    () => listened++,
  );
  // Reject connections for a while, as during a server restart.
  const other = connect(databaseUrl(url, "postgres"), 1);
  t.after(() => other.end());
  await other.unsafe(`alter database ${name} allow_connections false`);
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and application_name = 'switchyard'`;
  for (let refused = 0; refused < 8; refused++)
    await assert.rejects(db.sql`select 1`, /not currently accepting connections|connection/);
  await other.unsafe(`alter database ${name} allow_connections true`);
  await until(() => listened === 2);
  await admin`select pg_notify('wakes', '')`;
  await until(() => heard === 1);
});

test("the database ends an abandoned transaction and releases its locks", async (t) => {
  const { db } = await scratch(t, 1);
  const [limits] = await db.sql`
    select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`;
  assert.deepEqual(limits, { statement: "30s", idle: "1min" });
});
