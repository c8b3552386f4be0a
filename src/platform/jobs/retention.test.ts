import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../test/harness/context.ts";
import { ulid } from "../ids/ulid.ts";
import { retentionJob } from "./retention.ts";

const db = await testDatabase();
const nowMs = Date.now();
const dependencies = { db, clock: { now: () => nowMs }, platformTenantId: () => "" };
const job = { tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal };

test("rows expire in the declared order, in batches of their size, each group at its own age", async () => {
  const calls: [string, number, number][] = [];
  const groupOf = (name: string, counts: number[]) => async (_: unknown, before: Date, limit: number) => {
    calls.push([name, nowMs - before.getTime(), limit]);
    return counts.shift()!;
  };
  const { kind, every, handler } = retentionJob(dependencies, {
    ...{ kind: "test.delete_expired", everyMs: 60_000, batchSize: 10 },
    rows: [
      { ageMs: 5000, expire: groupOf("old", [10, 9]) },
      { batchSize: 3, expire: groupOf("due", [3, 0]) },
    ],
  });
  await handler(job);
  assert.deepEqual([kind, every!.ms], ["test.delete_expired", 60_000]);
  assert.deepEqual(calls, [
    ["old", 5000, 10],
    ["old", 5000, 10],
    ["due", 0, 3],
    ["due", 0, 3],
  ]);
});

for (const oldestFirst of [true, false]) {
  test(`only rows of a table that are too old and meet the condition are deleted (oldest first: ${oldestFirst})`, async () => {
    const kind = `retention-${oldestFirst}`;
    const insert = async (ageMs: number, state: string) => {
      const at = new Date(nowMs - ageMs);
      await db.sql`
        insert into jobs (tenant_id, id, kind, payload, run_at, max_attempts, created_at, state)
        values ('', ${ulid(nowMs)}, ${kind}, '{}', ${at}, 1, ${at}, ${state})`;
    };
    for (const ageMs of [9000, 8000, 7000, 6000, 1000]) await insert(ageMs, "failed");
    await insert(9000, "ready");
    const rows = {
      ...{ ageMs: 5000, batchSize: 2, table: "jobs", column: "created_at", oldestFirst },
      where: (sql: typeof db.sql) => sql`kind = ${kind} and state = 'failed'`,
    };
    await retentionJob(dependencies, { kind, everyMs: 60_000, rows: [rows] }).handler(job);
    const left = await db.sql<{ state: string }[]>`select state from jobs where kind = ${kind} order by created_at`;
    assert.deepEqual(
      left.map(({ state }) => state),
      ["ready", "failed"],
    );
  });
}
