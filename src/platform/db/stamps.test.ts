import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { classifyDatabaseError } from "./classify.ts";
import type { Database, Sql } from "./database.ts";
import { prepareStamps } from "./stamps.ts";

const anchored = "create or replace function stamp_base() returns bigint language sql stable return";

async function stampOf(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ stamp: string }[]>`select current_stamp()::text as stamp`;
  return BigInt(row!.stamp);
}

/** Makes the database look as if its rows came from another server. */
async function restoreElsewhere(db: Database): Promise<void> {
  await db.sql`update instance set value = value || '{"server": "1"}' where name = 'stamps'`;
  await db.sql.unsafe(`${anchored} read_stamp_base()`);
}

test("a stamp is the transaction id in the era of the timeline, whether a node has stored the era or not", async () => {
  const db = await testDatabase();
  const parts = await db.transaction(async (tx) => {
    const [row] = await tx<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
    return { stamp: await stampOf(tx), xid: BigInt(row!.xid) };
  });
  assert.equal(parts.stamp, (1n << 44n) + parts.xid);
  const { era, isMoved } = await prepareStamps(db);
  assert.deepEqual([era, isMoved], [1, false]);
  const [row] = await db.sql`select stamp_base() = read_stamp_base() as "isEqual"`;
  assert.equal(row!.isEqual, true);
});

test("rows from another server are not written until their era is raised, and then everything new comes after them", async () => {
  const db = await testDatabase();
  await prepareStamps(db);
  const before = await stampOf(db.sql);
  await restoreElsewhere(db);
  const tenantId = freshTenant();
  const write = () => db.sql`insert into tenant_versions (tenant_id) values (${tenantId})`;
  await assert.rejects(write(), (error) => classifyDatabaseError(error)?.code === "UNAVAILABLE");
  const all = await Promise.all(Array.from({ length: 8 }, () => prepareStamps(db)));
  assert.equal(all.filter(({ isMoved }) => isMoved).length, 1, "one node raises the era");
  await write();
  const after = await stampOf(db.sql);
  assert.ok(after >> 44n > before >> 44n);
  assert.equal((await prepareStamps(db)).isMoved, false);
});

test("the era is raised above a stamp that was found in a row", async () => {
  const db = await testDatabase();
  const { era } = await prepareStamps(db);
  const current = await stampOf(db.sql);
  assert.equal((await prepareStamps(db, current)).isMoved, false);
  assert.equal((await prepareStamps(db, current + 1000n)).isMoved, true);
  const far = BigInt(era + 100) << 44n;
  assert.equal((await prepareStamps(db, far)).isMoved, true);
  assert.ok((await stampOf(db.sql)) > far);
});

test("a snapshot holds the stamps that were committed, and those after a given one never", async () => {
  const db = await testDatabase();
  await prepareStamps(db);
  const before = await stampOf(db.sql);
  const opened = Promise.withResolvers<bigint>();
  const { promise, resolve: proceed } = Promise.withResolvers<void>();
  const running = db.transaction(async (tx) => {
    opened.resolve(await stampOf(tx));
    await promise;
  });
  const open = await opened.promise;
  const after = await stampOf(db.sql);
  const last = await stampOf(db.sql);
  const visible = async (snapshot: string) => {
    const rows = await db.sql<{ stamp: string }[]>`
      select stamp::text from unnest(${[before, open, after, last].map(String)}::text[]) stamp
      where txid_visible_in_snapshot(stamp::bigint, ${snapshot}::txid_snapshot)`;
    return rows.map(({ stamp }) => BigInt(stamp));
  };
  const [whole] = await db.sql`select stamp_snapshot() as now, stamp_horizon()::text as horizon`;
  const [cut] = await db.sql`select stamp_snapshot(${after}::bigint) as now`;
  const [early] = await db.sql`select stamp_snapshot(${before}::bigint) as now`;
  proceed();
  await running;
  assert.deepEqual(await visible(whole!.now), [before, after, last]);
  // Transactions of other databases on the server count too.
  assert.ok(BigInt(whole!.horizon) <= open);
  assert.deepEqual(await visible(cut!.now), [before, after]);
  assert.deepEqual(await visible(early!.now), [before]);
});
