import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { Database } from "../database.ts";
import { createSignals, type Signals } from "./signals.ts";
import { createTenantChanges } from "./tenant-changes.ts";

const db = await testDatabase();

/** The changes as one node sees them. */
async function node(t: TestContext, signals: Signals, database: Database = db) {
  const changes = createTenantChanges(database, signals);
  const heard: string[] = [];
  await changes.start();
  changes.onChange((tenantId) => heard.push(tenantId ?? "all"));
  t.after(() => changes.stop());
  return { changes, heard };
}

const deaf: Signals = {
  wake() {},
  onWake: () => () => {},
  onWakeUnder: () => () => {},
  onDue: () => () => {},
  start: async () => {},
  stop: async () => {},
};

test("a change is known on this node immediately and on another node soon, with or without a signal", async (t) => {
  const signals = [createSignals(db), createSignals(db)] as const;
  for (const each of signals) await each.start();
  t.after(() => Promise.all(signals.map((each) => each.stop())));
  const here = await node(t, signals[0]);
  const there = await node(t, signals[1]);
  const deafened = await node(t, deaf);
  const tenantId = freshTenant();
  await db.transaction((tx) => here.changes.record(tx, tenantId));
  here.changes.published(tenantId);
  assert.deepEqual(here.heard, [tenantId]);
  await until(() => there.heard.includes(tenantId));
  await until(() => deafened.heard.includes(tenantId));
});

test("a change that was rolled back is not published", async (t) => {
  const { changes, heard } = await node(t, deaf);
  const [undone, done] = [freshTenant(), freshTenant()];
  await assert.rejects(
    db.transaction(async (tx) => {
      await changes.record(tx, undone);
      throw new Error("no");
    }),
    /no/,
  );
  await db.transaction((tx) => changes.record(tx, done));
  await until(() => heard.includes(done));
  assert.equal(heard.includes(undone), false);
});

test("changes are published in whatever order their transactions end", async (t) => {
  const { changes, heard } = await node(t, deaf);
  const tenants = Array.from({ length: 4 }, freshTenant);
  const ends: { proceed(): void; ended: Promise<void> }[] = [];
  for (const tenantId of tenants) {
    const recorded = Promise.withResolvers<void>();
    const { promise, resolve: proceed } = Promise.withResolvers<void>();
    const ended = db.transaction(async (tx) => {
      await changes.record(tx, tenantId);
      recorded.resolve();
      await promise;
    });
    await recorded.promise;
    ends.push({ proceed, ended });
  }
  for (const index of [3, 0, 2, 1]) {
    ends[index]!.proceed();
    await ends[index]!.ended;
    await until(() => heard.includes(tenants[index]!));
  }
});

test("a node that cannot query the database is not fresh until it can again", async (t) => {
  let broken = false;
  const failing = new Proxy(db, {
    get: (target, name) =>
      name === "sql" && broken ? () => Promise.reject(new Error("gone")) : Reflect.get(target, name),
  });
  const { changes, heard } = await node(t, deaf, failing);
  assert.equal(changes.fresh(), true);
  broken = true;
  const tenantId = freshTenant();
  await db.transaction((tx) => changes.record(tx, tenantId));
  await until(() => !changes.fresh());
  assert.equal(heard.length, 0);
  broken = false;
  await until(() => changes.fresh());
  // By the time it is fresh again, it has processed the change.
  assert.ok(heard.includes(tenantId));
});
