import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { freshDatabase } from "../../../../test/harness/postgres.ts";
import { classifyDatabaseError } from "../classify.ts";
import { Pool, type PoolOptions } from "./pool.ts";
import type { Sql } from "./sql.ts";

/** A pool whose only connection is held by a transaction until `release` is called. */
async function busyPool(t: TestContext, options: Partial<PoolOptions>) {
  const { url, sql: admin, drop } = await freshDatabase();
  const pool = new Pool(url, { maxConnections: 1, ...options });
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const hold = () =>
    pool.transaction(async () => {
      begun.resolve();
      await held.promise;
    });
  // Connecting may take longer than the maximum wait; a retry then finds the connection.
  let holding = hold();
  while ((await Promise.race([begun.promise, holding.catch(() => "late")])) === "late") holding = hold();
  t.after(async () => {
    held.resolve();
    await pool.end(1000);
    await drop();
  });
  const release = async () => {
    held.resolve();
    await holding;
  };
  return { pool, admin, release };
}

function assertBusy(error: unknown): true {
  const failure = classifyDatabaseError(error);
  assert.equal(failure?.code, "UNAVAILABLE");
  assert.equal(failure.message, "Too many calls wait for the database.");
  assert.equal(failure.headers?.["retry-after"], "1");
  return true;
}

const nothing = async () => "done";
const read = (sql: Sql) => sql<{ n: number }[]>`select 1 as n`.then(([row]) => row!.n);

test("callers beyond the limit are refused immediately; waiting callers are served", async (t) => {
  const { pool, release } = await busyPool(t, { waitersMax: 3 });
  const waiting = [pool.transaction(nothing), read(pool.sql), pool.transaction(nothing)];
  await assert.rejects(pool.transaction(nothing), assertBusy);
  await assert.rejects(read(pool.sql), assertBusy);
  await release();
  assert.deepEqual(await Promise.all(waiting), ["done", 1, "done"]);
  assert.equal(await pool.transaction(nothing), "done");
});

test("a caller that exceeds the maximum wait is refused, and none of its work runs", async (t) => {
  const { pool, admin, release } = await busyPool(t, { waitMs: 50 });
  await admin`create table written (n int)`;
  const late = [
    pool.transaction((tx) => tx`insert into written values (1)`),
    pool.sql`insert into written values (2)`.then(),
  ];
  for (const outcome of await Promise.allSettled(late)) {
    assertBusy(outcome.status === "rejected" ? outcome.reason : undefined);
  }
  await assert.rejects(read(pool.sql), assertBusy, "each wait has a deadline of its own");
  await release();
  assert.equal(await read(pool.sql), 1);
  assert.equal((await admin`select from written`).count, 0);
});

test("an aborted call leaves the queue with the reason, and the others keep their position", async (t) => {
  const { pool, admin, release } = await busyPool(t, { waitersMax: 3 });
  await admin`create table written (n int)`;
  const gone = new Error("The caller is gone.");
  const call = new AbortController();
  const statement = pool.sqlFor(call)`insert into written values (1)`.then();
  const transaction = pool.transaction((tx) => tx`insert into written values (2)`, call);
  const patient = pool.transaction(nothing, new AbortController());
  await assert.rejects(pool.transaction(nothing), assertBusy);
  call.abort(gone);
  await assert.rejects(statement, gone);
  await assert.rejects(transaction, gone);
  const next = read(pool.sql);
  await assert.rejects(pool.transaction(nothing, call), gone, "one that was aborted before does not wait at all");
  await release();
  assert.equal(await patient, "done");
  assert.equal(await next, 1);
  assert.equal((await admin`select from written`).count, 0);
});

test("a call that is aborted after it got a connection continues", async (t) => {
  const { pool, release } = await busyPool(t, {});
  const call = new AbortController();
  const waited = pool.transaction(async (tx) => {
    call.abort();
    return read(tx);
  }, call);
  await release();
  assert.equal(await waited, 1);
});

test("a closing pool ends once the last waiter has left", async (t) => {
  const { pool, release } = await busyPool(t, {});
  const call = new AbortController();
  const waiting = pool.transaction(nothing, call);
  const ended = pool.end(60_000);
  call.abort(new Error("The caller is gone."));
  await assert.rejects(waiting, /caller is gone/);
  await release();
  await ended;
});
