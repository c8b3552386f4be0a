import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../src/platform/db/index.ts";
import { until } from "../harness/embedded-owner.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, databaseUrl } from "../harness/postgres-server.ts";

/** A database of the test's own, as the service opens it and as an administrator does. */
async function scratch(t: TestContext, maxConnections: number) {
  const { url, sql: admin, drop } = await freshDatabase();
  const db = openDatabase(url, { maxConnections });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return { url, admin, db };
}

test("a connection that is lost inside a transaction costs that transaction and nothing else", async (t) => {
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
    // Every pooled connection can be used again: more at once than there are connections.
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => db.transaction((tx) => tx<{ n: number }[]>`select ${i}::int as n`)),
    );
    assert.deepEqual(
      answers.map(([row]) => row!.n),
      Array.from({ length: 12 }, (_, i) => i),
    );
  }
});

test("a transaction that has lost its connection does nothing more, not even on the connection that takes its place", async (t) => {
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
      // Meanwhile the pool has connected anew, and others use the connection.
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

test("a node that was cut off from the database listens again, however long it took", async (t) => {
  const { db, url, admin } = await scratch(t, 2);
  const [{ name } = { name: "" }] = await admin<{ name: string }[]>`select current_database() as name`;
  let heard = 0;
  let listened = 0;
  await db.listen(
    "wakes",
    () => heard++,
    () => listened++,
  );
  // Nobody gets in for a while, as when the server is started again.
  const other = connect(databaseUrl(url, "postgres"), 1);
  t.after(() => other.end());
  await other.unsafe(`alter database ${name} allow_connections false`);
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and application_name = 'switchyard'`;
  for (let refused = 0; refused < 8; refused++) await assert.rejects(db.sql`select 1`);
  await other.unsafe(`alter database ${name} allow_connections true`);
  await until(() => listened === 2);
  await admin`select pg_notify('wakes', '')`;
  await until(() => heard === 1);
});

test("a transaction that its node has abandoned is ended by the database, with the locks that it holds", async (t) => {
  const { db } = await scratch(t, 1);
  const [limits] = await db.sql`
    select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`;
  assert.deepEqual(limits, { statement: "30s", idle: "1min" });
});
