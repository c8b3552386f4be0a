import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { localSignals } from "../testing/local-signals.ts";
import { createItemWaits } from "./item-waits.ts";

const db = await testDatabase();
const tenantId = freshTenant();
const log = { warn: assert.fail };

/** Counts the statements. */
function countedSql() {
  let count = 0;
  const sql = new Proxy(db.sql, {
    apply: (target, self, values) => {
      count++;
      return Reflect.apply(target, self, values);
    },
  }) as Sql;
  return { sql, count: () => count };
}

/** A waiting item, as the waits see it. */
async function storeItem(): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, priority, rank, expires_at, type, key, attributes,
      requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${id}, 'ready', 0, 0, now() + interval '1 hour', 't', '', '{}', '{}', '{}', 0, 'queued', '', '',
      0, '{}')`;
  return id;
}

const never = new AbortController().signal;

test("an end is announced to other nodes only if a call waits for the item", async () => {
  const { signals, woken } = localSignals();
  const parts = { sql: db.sql, signals, log };
  const [here, there] = [createItemWaits(parts), createItemWaits(parts)];
  const [awaited, other] = [await storeItem(), await storeItem()];
  there.announce([{ tenantId, id: other }]);
  assert.deepEqual(woken, []);
  const wait = here.begin({ tenantId, id: awaited });
  woken.length = 0;
  there.announce([
    { tenantId, id: other },
    { tenantId, id: awaited },
  ]);
  assert.equal(woken.length, 1);
  await wait.ended(60_000, never);
  wait.cancel();
  there.announce([{ tenantId, id: awaited }]);
  assert.equal(woken.length, 1);
  here.end();
  there.end();
});

test("an end without any signal is found by one statement for all calls", async () => {
  const { signals } = localSignals();
  const { sql, count } = countedSql();
  const waits = createItemWaits({ sql, signals, log });
  const ids = await Promise.all(Array.from({ length: 20 }, storeItem));
  const begun = ids.map((id) => waits.begin({ tenantId, id }));
  await db.sql`delete from queue_items where tenant_id = ${tenantId} and id = any(${ids.slice(1)}::text[])`;
  await Promise.all(begun.slice(1).map((wait) => wait.ended(60_000, never)));
  assert.ok(count() <= 3, `${count()} statements`);
  waits.end();
  await begun[0]!.ended(60_000, never);
  for (const wait of begun) wait.cancel();
  await waits.idle();
});

test("the calls that wait are bounded for each tenant and for all, and an ended wait frees its place", () => {
  const waits = createItemWaits({ sql: db.sql, ...localSignals(), log, limits: { node: 3, tenant: 2 } });
  const id = ulid(Date.now());
  const [first] = [waits.begin({ tenantId, id }), waits.begin({ tenantId, id })];
  assert.throws(() => waits.begin({ tenantId, id }), { code: "RATE_LIMITED" });
  waits.begin({ tenantId: freshTenant(), id });
  assert.throws(() => waits.begin({ tenantId: freshTenant(), id }), { code: "RATE_LIMITED" });
  first!.cancel();
  first!.cancel();
  waits.begin({ tenantId, id });
  assert.throws(() => waits.begin({ tenantId, id }), { code: "RATE_LIMITED" });
  waits.end();
});

test("a wait that has ended leaves nothing on the signal of its call", async () => {
  const { signals } = localSignals();
  const waits = createItemWaits({ sql: db.sql, signals, log });
  const target = { tenantId, id: await storeItem() };
  const { signal } = new AbortController();
  const wait = waits.begin(target);
  waits.announce([target]);
  await wait.ended(60_000, signal);
  wait.cancel();
  assert.equal(getEventListeners(signal, "abort").length, 0);
  waits.end();
});
