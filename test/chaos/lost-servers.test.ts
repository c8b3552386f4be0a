import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { addressOf, startTcpProxy } from "../../src/cli/prove/nodes/database-proxy.ts";
import { catalogue } from "../../src/errors/catalogue.ts";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { classifyDatabaseError, type Database, openDatabase } from "../../src/platform/db/index.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, databaseUrl, type TestSql } from "../harness/postgres-server.ts";
import { until } from "../harness/until.ts";

const maxConnections = 4;

/** A database behind a proxy, opened like a node opens it, by default with timeouts that a frozen network soon exceeds. */
async function behindProxy(t: TestContext, url: string, timeoutMs = 500) {
  const proxy = await startTcpProxy(addressOf(url));
  const { pathname } = new URL(url);
  const db = openDatabase(
    `postgres://switchyard@127.0.0.1:${proxy.port}${pathname}?connect_timeout=${Math.ceil(timeoutMs / 1000)}`,
    {
      maxConnections,
      statementMs: timeoutMs,
      silenceGraceMs: timeoutMs,
    },
  );
  t.after(async () => {
    await db.close();
    await proxy.close();
  });
  return { proxy, db };
}

/** Callers that write one row after another, alone and in transactions, and never write the same row twice. */
function startWriters(db: Database) {
  const acknowledged: number[] = [];
  const errors: unknown[] = [];
  let next = 0;
  let isOver = false;
  const write = async (n: number) => {
    if (n % 2 === 0) await db.sql`insert into written values (${n})`;
    else await db.transaction((tx) => tx`insert into written values (${n})`);
  };
  const writers = Array.from({ length: 12 }, async () => {
    while (!isOver) {
      const n = next++;
      await write(n).then(
        () => acknowledged.push(n),
        (error) => errors.push(error),
      );
      // A rejected caller retries after one iteration of the event loop.
      await new Promise(setImmediate);
    }
  });
  return {
    acknowledged,
    errors,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

/** Waits until calls have failed, and then until calls succeed again. */
async function untilMoreWritten({ acknowledged }: { acknowledged: readonly number[] }): Promise<void> {
  const before = acknowledged.length;
  await until(() => acknowledged.length > before + 50);
}

function assertRetryable(errors: readonly unknown[]): void {
  assert.ok(errors.length > 0, "some calls were in flight");
  for (const error of errors) {
    const failure = classifyDatabaseError(error);
    assert.ok(failure !== undefined && catalogue[failure.code].retryable, String(error));
  }
}

/** Asserts that every acknowledged row exists and that no row exists twice. */
async function assertWrittenOnce(sql: TestSql, acknowledged: readonly number[]): Promise<void> {
  const rows = await sql<{ n: number }[]>`select n from written`;
  const written = new Set(rows.map(({ n }) => n));
  assert.equal(rows.length, written.size, "nothing was written twice");
  assert.deepEqual(
    acknowledged.filter((n) => !written.has(n)),
    [],
  );
}

async function listening(db: Database) {
  const heard: string[] = [];
  const counts = { listened: 0 };
  await db.listen(
    "wakes",
    (payload) => heard.push(payload),
    () => counts.listened++,
  );
  return { heard, counts };
}

test("a frozen network fails only the calls in flight; afterwards calls and notifications resume by themselves", async (t) => {
  const { url, sql: admin, drop } = await freshDatabase();
  t.after(drop);
  await admin`create table written (n int)`;
  const { proxy, db } = await behindProxy(t, url);
  const { heard, counts } = await listening(db);
  const writers = startWriters(db);
  await untilMoreWritten(writers);

  proxy.freeze();
  // More than the number of callers, so that calls made during the freeze are included.
  await until(() => writers.errors.length > 40);
  assertRetryable(writers.errors);
  proxy.thaw();
  await untilMoreWritten(writers);
  await writers.stop();

  assertRetryable(writers.errors);
  await assertWrittenOnce(admin, writers.acknowledged);
  await until(() => counts.listened >= 2);
  await admin`select pg_notify('wakes', 'after')`;
  await until(() => heard.includes("after"));
  await until(() => proxy.size <= maxConnections + 1);
  const ours = () => admin`
    select from pg_stat_activity where datname = current_database() and application_name = 'switchyard'`;
  await until(async () => (await ours()).count <= maxConnections + 1);
});

test("a server crash and a failover to another server fail only the calls in flight", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-failover-"));
  const first = await startEmbedded({ dataDir: join(dataDir, "first") });
  let current = first;
  t.after(async () => {
    await current.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  let admin = connect(first.url, 2);
  t.after(() => admin.end());
  await admin`create table written (n int)`;
  const { proxy, db } = await behindProxy(t, first.url);
  const { heard, counts } = await listening(db);
  const writers = startWriters(db);
  await untilMoreWritten(writers);

  // PostgreSQL closes all connections and recovers when one of its processes is killed.
  const [{ pid } = { pid: 0 }] = await db.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  process.kill(pid, "SIGKILL");
  await until(() => writers.errors.length > 0);
  await untilMoreWritten(writers);
  await until(() => counts.listened >= 2);

  await admin.end();
  await first.stop();
  await cp(join(dataDir, "first"), join(dataDir, "second"), { recursive: true });
  current = await startEmbedded({ dataDir: join(dataDir, "second") });
  const listenedBefore = counts.listened;
  proxy.lead(addressOf(current.url));
  await untilMoreWritten(writers);
  await writers.stop();

  admin = connect(current.url, 2);
  assertRetryable(writers.errors);
  await assertWrittenOnce(admin, writers.acknowledged);
  await until(() => counts.listened > listenedBefore);
  await admin`select pg_notify('wakes', 'after')`;
  await until(() => heard.includes("after"));
  assert.ok(proxy.size <= maxConnections + 1);
});

test("a server that becomes read-only is abandoned for the writable one", async (t) => {
  const { url, sql: admin, drop } = await freshDatabase();
  t.after(drop);
  await admin`create table written (n int)`;
  const name = new URL(url).pathname.slice(1);
  const other = connect(databaseUrl(url, "postgres"), 1);
  t.after(() => other.end());
  // New connections reach a standby now.
  await other.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  const { db } = await behindProxy(t, url, 30_000);
  const write = () => db.transaction((tx) => tx`insert into written values (1)`);
  const refused = await Promise.allSettled(Array.from({ length: maxConnections }, write));
  assertRetryable(refused.map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined)));
  await other.unsafe(`alter database ${name} reset default_transaction_read_only`);
  await write();
  await assertWrittenOnce(admin, [1]);
});
