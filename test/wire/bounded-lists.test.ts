import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, test } from "node:test";
import { eventStore } from "../../src/modules/operations/events/store.ts";
import { decisionStore } from "../../src/modules/routing/routing/decisions/decision-store.ts";
import { createCursors } from "../../src/platform/cursor/index.ts";
import type { Sql } from "../../src/platform/db/index.ts";
import { offsetMax, type Page, type PageRows, readPage, scanMax, totalMax } from "../../src/platform/paging/index.ts";
import { failsWith, freshTenant, testDatabase } from "../harness/context.ts";

const rowCount = scanMax + 20_000;
const db = await testDatabase();
const tenantId = freshTenant();
const cursors = createCursors(randomBytes(32));
const firstPage: Page = { fetch: 2, offset: 0, after: undefined };

before(async () => {
  await db.sql`alter table events set (autovacuum_enabled = false)`;
  const id = (n: string) => db.sql`'01J' || lpad(${db.sql.unsafe(n)}::text, 23, '0')`;
  // Only the first event, which is the last one in the list, has the type rare.one.
  await db.sql`
    insert into events (tenant_id, id, type, source, time)
    select ${tenantId}, ${id("n")}, case n when 1 then 'rare.one' else 'common.one' end, '/test', now()
    from generate_series(1, ${rowCount}) n`;
  await db.sql`
    insert into routing_history (tenant_id, id, pool_id, ended_at, type, key, attributes, requirements, payload,
      decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    select ${tenantId}, ${id("n")}, ${id("1")}, now(), 't', '', '{}', '{}', '{}', 0, 'assigned', '', '', 0, '{}'
    from generate_series(1, ${rowCount}) n`;
  await db.sql`analyze events, routing_history`;
});

/** Reads in a transaction; returns the result and the number of rows read from the table and its partitions. */
async function reading<T>(table: string, read: (sql: Sql) => Promise<T>): Promise<{ found: T; rowsRead: number }> {
  return db.transaction(async (tx) => {
    const soFar = async () => {
      const [stats] = await tx<{ rows: number }[]>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
        where starts_with(relname, ${table})`;
      return stats!.rows;
    };
    const before = await soFar();
    const found = await read(tx);
    return { found, rowsRead: (await soFar()) - before };
  });
}

const decisions = (sql: Sql, page: Page, filter: object = {}) =>
  decisionStore(sql).list(
    tenantId,
    { poolId: "", outcome: "", recipientId: "", key: "", environmentId: "", environmentMode: "any", ...filter },
    page,
  );
const events = (sql: Sql, page: Page, types: string[] = []) =>
  eventStore(sql).list(
    tenantId,
    { types, subject: "", since: undefined, until: undefined, environmentId: "", environmentMode: "any" },
    page,
  );

const lists: readonly (readonly [string, (sql: Sql, page: Page) => Promise<PageRows<{ id: string }>>])[] = [
  ["routing_history", decisions],
  ["events", events],
];

for (const [table, list] of lists) {
  test(`a page of ${table} reads a bounded number of rows, and reports that its total is capped`, async () => {
    const { found, rowsRead } = await reading(table, (sql) => list(sql, firstPage));
    assert.equal(found.rows.length, 2);
    assert.deepEqual(found.total, { count: totalMax, capped: true });
    assert.ok(rowsRead <= totalMax + 10, `${rowsRead} rows were read`);

    const next = await reading(table, (sql) => list(sql, { ...firstPage, after: found.rows.at(-1)!.id }));
    assert.ok(next.rowsRead <= 2, `${next.rowsRead} rows were read for the page after`);
  });
}

test("a filter without matches reads a bounded number of rows, and returns a cursor", async () => {
  const { found, rowsRead } = await reading("routing_history", (sql) =>
    decisions(sql, firstPage, { outcome: "rejected" }),
  );
  assert.equal(found.rows.length, 0);
  assert.deepEqual(found.total, { count: 0, capped: true });
  assert.equal(Number(found.scannedTo!.slice(3)), rowCount - scanMax + 1);
  assert.ok(rowsRead <= 2 * scanMax + totalMax + 10, `${rowsRead} rows were read`);
});

/** Reads a page like an operation does. */
const page = (request: { skip?: number; pageToken?: string }, types: string[] = []) =>
  readPage(
    cursors,
    { pageSize: 2, pageToken: "", skip: 0, ...request },
    { tenantId, operation: "ListEvents" },
    (event: { id: string }) => event.id,
    (wanted) => events(db.sql, wanted, types),
  );

test("the cursors of short pages lead to matches far back", async () => {
  const first = await page({}, ["rare.*"]);
  assert.deepEqual([first.items.length, first.totalCapped], [0, true]);
  const second = await page({ pageToken: first.nextPageToken }, ["rare.*"]);
  assert.deepEqual([second.items.length, second.nextPageToken, second.totalSize], [1, "", 1]);
});

test("an offset that would skip more than a bounded number of rows is rejected; one past the end is an empty page", async () => {
  assert.equal((await page({ skip: offsetMax })).items.length, 2);
  await assert.rejects(page({ skip: offsetMax + 1 }), failsWith("INVALID_ARGUMENT", /cursor/));
  await assert.rejects(page({ skip: 2 ** 31 - 1 }), failsWith("INVALID_ARGUMENT", /cursor/));
  await assert.rejects(page({ skip: 1 }, ["none.*"]), failsWith("INVALID_ARGUMENT", /cursor/));

  const few = await readPage(
    cursors,
    { pageSize: 2, pageToken: "", skip: 2 ** 31 - 1 },
    { tenantId, operation: "ListEvents" },
    (event: { id: string }) => event.id,
    (wanted) =>
      eventStore(db.sql).list(
        freshTenant(),
        { types: [], subject: "", since: undefined, until: undefined, environmentId: "", environmentMode: "any" },
        wanted,
      ),
  );
  assert.deepEqual(few, { items: [], nextPageToken: "", totalSize: 0, totalCapped: false });
});
