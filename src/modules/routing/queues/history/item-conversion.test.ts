import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { earlierDatabase } from "../../../../../test/harness/earlier-schema.ts";
import { until } from "../../../../../test/harness/until.ts";
import { type Database, openDatabase } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { completePlainItems } from "../completion/completion-store.ts";
import { leaseItems } from "../leasing/lease-store.ts";
import { queueStore } from "../queue-store.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";
import { readFinishedLeases } from "../transitions/transition-store.ts";
import { convertItemsJob } from "./item-conversion.ts";

/** The tables of the version that stored decisions apart from their items. */
const twoRowsPerItem = "0016";
const token = "AAAAAAAAAAAAAAAAp1";
const tenantId = freshTenant();
const poolId = ulid(Date.now());
const states = ["ready", "pending", "held", "leased", "completed", "cancelled", "superseded", "dead_lettered"] as const;

type State = (typeof states)[number] | "none";

/** Fills the earlier tables with items in every state and decisions without an item; returns the state of each by id. */
async function fillEarlier(db: Database, perState: number): Promise<Map<string, State>> {
  const expected = new Map<string, State>();
  for (let nth = 0; nth < perState; nth++)
    for (const state of [...states, "none"] as const) expected.set(ulid(Date.now() - 86_400_000 + nth), state);
  const ids = [...expected.keys()];
  await db.sql`
    insert into decisions (tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
      recipient_id, snapshot_digest, seed, evidence)
    select ${tenantId}, id, ${poolId}, 'lead', 'key-' || id, '{"a":1}', '{}', json_build_object('of', id), 3, 'routed', 'r',
      '\\x01', 7, '{}'
    from unnest(${ids}::text[]) as n(id)`;
  const items = [...expected].filter(([, state]) => state !== "none");
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, recipient_id, state, priority, rank, due_at, expires_at, attempt,
      lease_token, lease_until, leased_at, done_token, survivor_id, ended_at)
    select ${tenantId}, id, ${poolId}, 'r', state, 3, 0,
      case when state in ('pending', 'held') then now() + interval '1 day' end, now() + interval '1 day', 1,
      case state when 'leased' then ${token} else '' end,
      case state when 'leased' then now() + interval '1 hour' end, case state when 'leased' then now() end,
      case state when 'completed' then ${token} else '' end, case state when 'superseded' then 'survivor' else '' end,
      case when state in ('completed', 'cancelled', 'superseded', 'dead_lettered') then now() - interval '2 hours' end
    from unnest(${items.map(([id]) => id)}::text[], ${items.map(([, state]) => state)}::text[]) as n(id, state)`;
  await db.sql`
    insert into dead_letters (tenant_id, pool_id, queue_item_id, state, reason_code, phase, attempts, max_retries,
      payload_digest, first_failed_at, last_failed_at)
    select tenant_id, pool_id, id, 'failed', 'failed', 'work', '[]', 3, '', now(), now() from queue_items
    where state = 'dead_lettered'`;
  return expected;
}

async function upgraded(t: TestContext, perState: number) {
  const earlier = await earlierDatabase(t, twoRowsPerItem);
  const db = openDatabase(earlier.url, { maxConnections: 10 });
  t.after(() => db.close());
  const expected = await fillEarlier(db, perState);
  await earlier.upgrade();
  return { url: earlier.url, db, expected };
}

function convert(db: Database): Promise<void> {
  const { handler } = convertItemsJob({ db, platformTenantId: () => tenantId });
  return handler({ tenantId, id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
}

/** Checks that everything exists once, with its state and its request. */
async function assertComplete(db: Database, expected: ReadonlyMap<string, State>): Promise<void> {
  const items = await db.sql<{ id: string; state: State; payload: { of: string } }[]>`
    select id, state, payload from all_items where tenant_id = ${tenantId}`;
  assert.equal(items.length, [...expected.values()].filter((state) => state !== "none").length);
  for (const { id, state, payload } of items) assert.deepEqual([state, payload.of], [expected.get(id), id]);
  const decisions = await db.sql<{ id: string; key: string; seed: number }[]>`
    select id, key, seed from decisions where tenant_id = ${tenantId}`;
  assert.deepEqual(decisions.map(({ id }) => id).sort(), [...expected.keys()].sort());
  for (const { id, key, seed } of decisions) assert.deepEqual([key, seed], [`key-${id}`, 7]);
}

async function countUnconverted(db: Database): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select (select count(*) from unconverted_decisions) + (select count(*) from queue_items where type is null) as count`;
  return Number(row!.count);
}

const idOf = (expected: ReadonlyMap<string, State>, wanted: State) =>
  [...expected].find(([, state]) => state === wanted)![0];

function leaseAll(db: Database, count: number) {
  const scope = { tenantId, poolId, delivery: "pull", recipientIds: ["r"] } as const;
  return leaseItems(db.sql, { ...scope, count, leaseS: 60, ageingMs: 0, tokenSecret: "BBBBBBBBBBBBBBBB", shard: 0 });
}

/** Leases and completes a number of items, a few at a time; returns their ids. */
async function drainReady(db: Database, count: number): Promise<string[]> {
  const done: string[] = [];
  await until(async () => {
    const leased = await leaseAll(db, 7);
    const reports = leased.map(({ id, leaseToken }) => ({ tenantId, poolId, id, token: leaseToken }));
    const rows = await completePlainItems(db.sql, reports, Date.now(), 0);
    assert.equal(rows.length, leased.length);
    return done.push(...rows.map(({ id }) => id)) >= count;
  });
  return done;
}

test("before anything is converted, earlier items and decisions are complete and can be worked on", async (t) => {
  const { db, expected } = await upgraded(t, 1);
  await assertComplete(db, expected);

  const [leased, ...others] = await leaseAll(db, 10);
  assert.deepEqual(others, []);
  assert.deepEqual([leased!.id, leased!.type, leased!.payload], [idOf(expected, "ready"), "lead", { of: leased!.id }]);

  const [id, poolItem] = [idOf(expected, "leased"), { tenantId, poolId }];
  assert.equal((await completePlainItems(db.sql, [{ ...poolItem, id, token }], Date.now(), 0)).length, 0);
  const transition = { tenantId, poolId, id, from: { token }, to: "completed" } as const;
  await db.transaction((tx) => applyTransitions(tx, [transition], [], Date.now(), 0));
  const [finished] = await readFinishedLeases(db.sql, [{ tenantId, id }]);
  assert.equal(finished!.doneToken, token);
  const changed = new Map(expected).set(id, "completed").set(leased!.id, "leased");
  await assertComplete(db, changed);
});

test("the conversion keeps every item, decision and dead letter", async (t) => {
  const { db, expected } = await upgraded(t, 2);
  await convert(db);
  assert.equal(await countUnconverted(db), 0);
  await assertComplete(db, expected);

  const [decision] = await db.sql<{ queued: boolean; heldBy: string; priority: number }[]>`
    select queued, held_by, priority from decisions where tenant_id = ${tenantId} and id = ${idOf(expected, "none")}`;
  assert.deepEqual(decision, { queued: false, heldBy: "r", priority: 3 });
  const superseded = await queueStore(db.sql).findItem(tenantId, poolId, idOf(expected, "superseded"));
  assert.equal(superseded!.survivorId, "survivor");
  const [done] = await readFinishedLeases(db.sql, [{ tenantId, id: idOf(expected, "completed") }]);
  assert.equal(done!.doneToken, token);
  const letters = await db.sql`
    select from dead_letters letter join queue_items item on item.id = letter.queue_item_id
    where item.state = 'dead_lettered' and item.payload is not null`;
  assert.equal(letters.count, 2);
});

test("an outcome that was reported before the upgrade stays the only one", async (t) => {
  const { db, expected } = await upgraded(t, 1);
  const id = idOf(expected, "ready");
  await db.sql`
    insert into outcomes (tenant_id, decision_id, pool_id, recipient_id, status, observed_at, recorded_at)
    values (${tenantId}, ${id}, ${poolId}, 'r', 'failure', now(), now())`;
  await convert(db);
  await drainReady(db, 1);
  const outcomes = await db.sql<{ status: string }[]>`select status from all_outcomes where decision_id = ${id}`;
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["failure"],
  );
});

test("a conversion that is interrupted at any point, beside workers that drain the queue, loses and repeats nothing", async (t) => {
  const perState = 300;
  const { url, db, expected } = await upgraded(t, perState);
  const applicationName = "conversion";
  const converting = openDatabase(url, { maxConnections: 2, applicationName });
  t.after(() => converting.close());

  let interrupted = 0;
  const conversion = until(() =>
    convert(converting).then(
      () => true,
      () => void interrupted++,
    ),
  );
  const interruption = (async () => {
    while (interrupted < 10 && (await countUnconverted(db)) > 0) {
      await db.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = ${applicationName} and state <> 'idle'`;
      await delay(2);
    }
  })();
  const completed = drainReady(db, perState);
  await Promise.all([conversion, interruption]);

  for (const id of await completed) expected.set(id, "completed");
  assert.ok(interrupted > 0, "no run of the conversion was interrupted");
  assert.equal(await countUnconverted(db), 0);
  await assertComplete(db, expected);
});
