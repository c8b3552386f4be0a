import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { ulid } from "../../ids/ulid.ts";
import { type DailyTable, maintainPartitions } from "../index.ts";

const db = await testDatabase();
const dayMs = 86_400_000;
const tenantId = freshTenant();
const noonMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
const history: DailyTable = { name: "workflow_history", column: "at" };
const archive: DailyTable = { name: "workflow_run_archive", column: "ended_at" };

const maintain = (table: DailyTable, nowMs: number, signal = new AbortController().signal) =>
  maintainPartitions(db, table, { nowMs, retentionDays: 3, signal });

async function addHistory(atMs: number): Promise<string> {
  const id = ulid(atMs);
  await db.sql`
    insert into workflow_history (tenant_id, run_id, revision, at, entries)
    values (${tenantId}, ${id}, 1, ${new Date(atMs)}, '[]')`;
  return id;
}

async function addRun(atMs: number): Promise<string> {
  const id = ulid(atMs);
  await db.sql`
    insert into workflow_run_archive (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
      origin, parent_run_id, created_at, ended_at)
    values (${tenantId}, ${id}, ${id}, ${id}, 1, '', 'succeeded', '{}', 1, '{}', '', ${new Date(atMs)}, ${new Date(atMs)})`;
  return id;
}

/** The partition of a row; undefined if the row is gone. */
async function partitionOf({ name }: DailyTable, id: string): Promise<string | undefined> {
  const idColumn = db.sql(name === "workflow_history" ? "run_id" : "id");
  const [row] = await db.sql<{ name: string }[]>`
    select tableoid::regclass::text as name from ${db.sql(name)} where ${idColumn} = ${id}`;
  return row?.name;
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");

for (const { table, add } of [
  { table: history, add: addHistory },
  { table: archive, add: addRun },
]) {
  test(`${table.name}: rows move from the default partition into their day, and expire with it`, async () => {
    const early = await add(noonMs);
    assert.equal(await partitionOf(table, early), `${table.name}_default`);
    await maintain(table, noonMs);
    assert.equal(await partitionOf(table, early), `${table.name}_${dayOf(noonMs)}`);
    const ahead = await add(noonMs + 7 * dayMs);
    assert.equal(await partitionOf(table, ahead), `${table.name}_${dayOf(noonMs + 7 * dayMs)}`);
    await maintain(table, noonMs + 3 * dayMs);
    assert.equal(await partitionOf(table, early), `${table.name}_${dayOf(noonMs)}`);
    await maintain(table, noonMs + 4 * dayMs);
    assert.equal(await partitionOf(table, early), undefined);
    assert.equal(await partitionOf(table, ahead), `${table.name}_${dayOf(noonMs + 7 * dayMs)}`);
  });
}

test("expired rows of the default partition are deleted, unless the run is aborted", async () => {
  const nowMs = noonMs + 50 * dayMs;
  const [expired, kept] = [await addHistory(nowMs - 10 * dayMs), await addHistory(nowMs - 2 * dayMs)];
  const stopping = new AbortController();
  stopping.abort(new Error("The node stops."));
  await assert.rejects(maintain(history, nowMs, stopping.signal), /stops/);
  assert.equal(await partitionOf(history, expired), "workflow_history_default");
  await maintain(history, nowMs);
  assert.deepEqual(
    [await partitionOf(history, expired), await partitionOf(history, kept)],
    [undefined, "workflow_history_default"],
  );
});

test("the maintenance of one table changes no other table", async () => {
  const nowMs = noonMs + 90 * dayMs;
  const run = await addRun(nowMs - 10 * dayMs);
  await maintain(history, nowMs);
  assert.equal(await partitionOf(archive, run), "workflow_run_archive_default");
});

test("two nodes can maintain a table at the same time", async () => {
  const nowMs = noonMs + 130 * dayMs;
  await Promise.all([maintain(history, nowMs), maintain(history, nowMs)]);
  const id = await addHistory(nowMs);
  assert.equal(await partitionOf(history, id), `workflow_history_${dayOf(nowMs)}`);
});

test("a row that arrives while the partition of its day is created is stored in that partition", async () => {
  const nowMs = noonMs + 170 * dayMs;
  // The move of rows from the default partition ends when the test releases the lock.
  await db.sql`
    create function wait_for_test() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      perform pg_advisory_xact_lock(7);
      return null;
    end $$`;
  await db.sql`
    create trigger wait_for_test after delete on workflow_history_default
    for each statement execute function wait_for_test()`;
  const { maintaining, adding } = await db.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(7)`;
    const maintaining = maintain(history, nowMs);
    await untilBlocked(db.sql, "with moved as");
    const adding = addHistory(nowMs);
    await Promise.race([adding, untilBlocked(db.sql, "insert into workflow_history")]);
    return { maintaining, adding };
  });
  await maintaining;
  assert.equal(await partitionOf(history, await adding), `workflow_history_${dayOf(nowMs)}`);
});
