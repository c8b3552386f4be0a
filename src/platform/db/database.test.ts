import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { freshDatabase } from "../../../test/harness/postgres.ts";
import { openDatabase, type Sql } from "./database.ts";

async function opened(t: TestContext, maxConnections: number, genericPlanConnections: number) {
  const { url, sql: admin, drop } = await freshDatabase();
  const db = openDatabase(url, { maxConnections, genericPlanConnections, applicationName: "under test" });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return { db, admin };
}

async function setting(sql: Sql, name: string): Promise<string> {
  const [row] = await sql<{ value: string }[]>`select current_setting(${name}) as value`;
  return row!.value;
}

test("generic-plan connections use generic plans without sequential scans; the others use PostgreSQL's defaults, and none uses JIT", async (t) => {
  const { db } = await opened(t, 3, 1);
  assert.equal(await setting(db.genericPlans.sql, "plan_cache_mode"), "force_generic_plan");
  assert.equal(await setting(db.genericPlans.sql, "enable_seqscan"), "off");
  const inTransaction = await db.genericPlans.transaction((tx) => setting(tx, "plan_cache_mode"));
  assert.equal(inTransaction, "force_generic_plan");
  assert.equal(await setting(db.sql, "plan_cache_mode"), "auto");
  assert.equal(await setting(db.sql, "enable_seqscan"), "on");
  for (const { sql } of [db, db.genericPlans]) assert.equal(await setting(sql, "jit"), "off");
});

test("generic-plan and other connections together stay within the limit", async (t) => {
  for (const [max, genericPlans] of [
    [1, 0],
    [3, 1],
    [8, 2],
  ] as const) {
    const { db, admin } = await opened(t, max, genericPlans);
    const hold = (tx: Sql) => tx`select pg_sleep(0.05)`;
    await Promise.all(
      [db, db.genericPlans].flatMap(({ transaction }) => Array.from({ length: 10 }, () => transaction(hold))),
    );
    const [row] = await admin<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name = 'under test'`;
    assert.equal(row!.n, max);
  }
});
