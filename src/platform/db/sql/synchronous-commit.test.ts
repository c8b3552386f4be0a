import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freshTenant } from "../../../../test/harness/context.ts";
import { connect } from "../../../../test/harness/postgres-server.ts";
import { until } from "../../../../test/harness/until.ts";
import { readStoredResponse } from "../../idempotency/index.ts";
import { createBatcher } from "../batcher.ts";
import { classifyDatabaseError, mayBeCommitted } from "../classify.ts";
import { openDatabase } from "../database.ts";
import { startEmbedded } from "../embedded/embedded.ts";
import { migrate } from "../migrate.ts";

/** A server whose commits wait for a standby that does not exist, until their wait is cancelled. */
async function withoutStandby(t: TestContext, maxConnections = 1) {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-synchronous-"));
  const settings = { synchronous_commit: "on", synchronous_standby_names: "missing" };
  const server = await startEmbedded({ dataDir, durable: false, settings });
  const admin = connect(`${server.url}?synchronous_commit=local`, 2);
  const db = openDatabase(server.url, { maxConnections });
  t.after(async () => {
    await Promise.all([db.close(), admin.end()]);
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  await admin`create table written (n int)`;
  const waiting = () => admin<{ pid: number }[]>`select pid from pg_stat_activity where wait_event = 'SyncRep'`;
  return {
    ...{ db, admin, waiting, url: server.url },
    written: async () => (await admin<{ n: number }[]>`select n from written order by n`).map(({ n }) => n),
    /** Ends the wait of a commit, once one waits. */
    async end(by: "pg_cancel_backend" | "pg_terminate_backend") {
      const [{ pid } = { pid: 0 }] = await until(waiting, (rows) => rows.length > 0);
      await admin`select ${admin.unsafe(by)}(${pid}::int)`;
      return pid;
    },
  };
}

/** Asserts that callers learn that their write may have been committed or not, and that they can repeat it. */
function assertUnknown(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  for (const outcome of outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.ok(mayBeCommitted(outcome.reason), String(outcome.reason));
    assert.equal(classifyDatabaseError(outcome.reason)?.code, "UNAVAILABLE");
  }
}

for (const by of ["pg_cancel_backend", "pg_terminate_backend"] as const) {
  test(`a commit whose wait for replication is ended by ${by} is not acknowledged, and its connection is closed`, async (t) => {
    const { db, end, written, waiting, admin } = await withoutStandby(t);
    const single = Promise.allSettled([db.sql`insert into written values (1)`]);
    const first = await end(by);
    assertUnknown(await single);
    const transaction = Promise.allSettled([db.transaction((tx) => tx`insert into written values (2)`)]);
    const second = await end(by);
    assertUnknown(await transaction);
    assert.notEqual(second, first);
    // PostgreSQL itself has kept both, and shows them to everybody.
    assert.deepEqual(await written(), [1, 2]);
    assert.deepEqual([...(await waiting())], []);
    const ours = () => admin`select from pg_stat_activity where pid in (${first}, ${second})`;
    await until(async () => (await ours()).length === 0);
  });
}

test("of statements that share a connection, none behind a cancelled wait is acknowledged, nor any caller of its batch", async (t) => {
  const { db, end } = await withoutStandby(t);
  const batcher = createBatcher<number, void>({
    flush: async (numbers) => {
      await db.sql`insert into written select unnest(${numbers}::int[])`;
      return numbers.map(() => undefined);
    },
  });
  const [read] = await db.sql`select 1 as one`;
  assert.deepEqual(read, { one: 1 });
  const batch = [1, 2, 3].map((n) => batcher.run(n));
  const others = [db.sql`insert into written values (4)`.then(), db.sql`select 1`.then()];
  const outcomes = Promise.allSettled([...batch, ...others]);
  await end("pg_cancel_backend");
  assertUnknown(await outcomes);
});

test("a repeat does not acknowledge a recorded call before its record is replicated", async (t) => {
  const { db, end, url } = await withoutStandby(t);
  await migrate(`${url}?synchronous_commit=local`, join(import.meta.dirname, "../../../../migrations"));
  const scope = { tenantId: freshTenant(), principal: "key:1", operation: "Make", key: "k" };
  const claim = { ...scope, fingerprint: Buffer.from("the request"), createdAt: new Date() };
  const recorded = Promise.allSettled([
    db.sql`insert into idempotency_records ${db.sql([{ ...toColumns(claim), state: "completed", response: "first" }])}`,
  ]);
  await end("pg_cancel_backend");
  assertUnknown(await recorded);

  const repeated = Promise.allSettled([readStoredResponse(db.sql, claim)]);
  await end("pg_cancel_backend");
  assertUnknown(await repeated);
});

function toColumns({ tenantId, createdAt, ...same }: { tenantId: string; createdAt: Date }) {
  return { ...same, tenant_id: tenantId, created_at: createdAt };
}
