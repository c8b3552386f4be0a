import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { maintainHistoryJob } from "./history-job.ts";

const db = await testDatabase();
const dayMs = 86_400_000;
const tenantId = freshTenant();

/** Adds a decision without an item that was made at a time; returns its id. */
async function decideAt(atMs: number): Promise<string> {
  const id = ulid(atMs);
  await db.sql`
    insert into routing_history (tenant_id, id, pool_id, ended_at, type, key, attributes, requirements, payload,
      decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${id}, ${new Date(atMs)}, 't', '', '{}', '{}', '{}', 0, 'rejected', '', '', 0, '{}')`;
  return id;
}

const partitionOf = async (id: string) =>
  (await db.sql<{ name: string }[]>`select tableoid::regclass::text as name from routing_history where id = ${id}`)[0]
    ?.name;

function maintainAt(nowMs: number): Promise<void> {
  const clock = { now: () => nowMs };
  const { handler } = maintainHistoryJob({ db, clock, retentionDays: 3, platformTenantId: () => tenantId });
  return handler({ tenantId, id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
}

test("a new database has the partition of its first day, so that the rows of the first minutes need not move", async () => {
  const now = Date.now();
  const day = new Date(now).toISOString().slice(0, 10).replaceAll("-", "");
  assert.equal(await partitionOf(await decideAt(now)), `routing_history_${day}`);
});

test("rows that ended before the first partition of a day are kept apart and expire too", async () => {
  const long = await decideAt(Date.now() - 10 * dayMs);
  const recent = await decideAt(Date.now() - 2 * dayMs);
  await maintainAt(Date.now());
  assert.equal(await partitionOf(long), undefined);
  assert.equal(await partitionOf(recent), "routing_history_default");
});

test("each day has its own partition, created ahead, and expires as a whole after the retention period", async () => {
  const start = Date.now() + 20 * dayMs;
  await maintainAt(start);
  const [first, second] = [await decideAt(start), await decideAt(start + dayMs)];
  const names = [await partitionOf(first), await partitionOf(second)];
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");
  assert.deepEqual(names, [`routing_history_${dayOf(start)}`, `routing_history_${dayOf(start + dayMs)}`]);

  // Its day has not ended three days ago.
  await maintainAt(start + 3 * dayMs);
  assert.equal(await partitionOf(first), names[0]);
  await maintainAt(start + 4 * dayMs);
  assert.equal(await partitionOf(first), undefined);
  const [dropped] = await db.sql<{ name: string | null }[]>`select to_regclass(${names[0]!})::text as name`;
  assert.equal(dropped!.name, null);
  assert.equal((await db.sql`select from decisions where tenant_id = ${tenantId} and id = ${second}`).count, 1);
});

test("rows that were stored before their day had a partition move into it, and maintenance continues", async () => {
  const late = Date.now() + 60 * dayMs;
  const [first, second] = [await decideAt(late), await decideAt(late + 2 * dayMs)];
  assert.equal(await partitionOf(first), "routing_history_default");
  await maintainAt(late);
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");
  assert.equal(await partitionOf(first), `routing_history_${dayOf(late)}`);
  assert.equal(await partitionOf(second), `routing_history_${dayOf(late + 2 * dayMs)}`);
  const indexes = await db.sql`select from pg_indexes where tablename = ${`routing_history_${dayOf(late)}`}`;
  assert.equal(indexes.count, 2);
});

test("maintenance beside a long reader changes nothing, and the next run catches up", async () => {
  const later = Date.now() + 100 * dayMs;
  await maintainAt(later);
  const day = await partitionOf(await decideAt(later));
  await db.transaction(async (tx) => {
    await tx`select count(*) from routing_history`;
    // The partitions of today and tomorrow exist, so nothing is urgent.
    await maintainAt(later + dayMs);
    await maintainAt(later + 4 * dayMs);
    assert.equal((await tx`select to_regclass(${day!})::text as name`)[0]!.name, day);
  });
  await maintainAt(later + 4 * dayMs);
  assert.equal((await db.sql`select to_regclass(${day!})::text as name`)[0]!.name, null);
});
