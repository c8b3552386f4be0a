import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { deleteBatch } from "../index.ts";

const db = await testDatabase();

async function addEvents(count: number): Promise<string> {
  const tenantId = freshTenant();
  await db.sql`
    insert into events (tenant_id, id, type, source, time)
    select ${tenantId}, lpad(n::text, 26, '0'), 't', '/t', now() - interval '1 day' from generate_series(1, ${count}::int) n`;
  return tenantId;
}

test("a batch is looked up by key, without a scan of the table, even if it is a large part of the table", async () => {
  const tenantId = await addEvents(20_000);
  await db.sql`analyze events`;
  const rows = { table: "events", where: db.sql`tenant_id = ${tenantId}`, orderBy: db.sql`id` };
  const deleted = await db.transaction(async (tx) => {
    const count = await deleteBatch(tx, rows, 2000);
    const [stats] = await tx<{ scans: number }[]>`
      select seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'events'`;
    return [count, stats!.scans];
  });
  assert.deepEqual(deleted, [2000, 0]);
  const [first] = await db.sql`select min(id)::int as id from events where tenant_id = ${tenantId}`;
  assert.equal(first!.id, 2001);
});

test("a row that changes while its batch is deleted stays", async () => {
  const tenantId = await addEvents(3);
  const where = db.sql`tenant_id = ${tenantId} and time < now() - interval '1 hour'`;
  let deleting: Promise<number> | undefined;
  await db.transaction(async (tx) => {
    await tx`update events set time = now() where tenant_id = ${tenantId} and id like '%2'`;
    deleting = deleteBatch(db.sql, { table: "events", where }, 10);
    await untilBlocked(db.sql);
  });
  assert.equal(await deleting, 2);
});
