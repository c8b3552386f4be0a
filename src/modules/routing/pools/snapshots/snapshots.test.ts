import assert from "node:assert/strict";
import { test } from "node:test";
import { SetPoolEnabledRequestSchema, UpdatePoolRequestSchema } from "../../../../../gen/service/api/pool_pb.ts";
import {
  DeleteRecipientRequestSchema,
  PauseRecipientRequestSchema,
} from "../../../../../gen/service/api/recipient_pb.ts";
import { UpdateRuleRequestSchema } from "../../../../../gen/service/api/rule_pb.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { failsWith, perform } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";
import { createCountingNode } from "../testing/counting-node.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";
import { createSnapshots } from "./snapshots.ts";

const fixture = await createPoolFixture();
const { db, pools, handlers, changes, newTenant, environmentId, createPool, createRecipient, createRule } = fixture;

const node = () => createCountingNode(db);

async function newPool() {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  return { tenantId, id };
}
async function describe(tenantId: TenantId, id: string, description: string) {
  await perform(db, { tenantId }, handlers.pools.updatePool, UpdatePoolRequestSchema, { poolId: id, description });
}
async function setEnabled(tenantId: TenantId, poolId: string, enabled: boolean) {
  await perform(db, { tenantId }, handlers.pools.setPoolEnabled, SetPoolEnabledRequestSchema, { poolId, enabled });
}

test("a pool is read once and then returned synchronously", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, queries } = node();
  const first = snapshot(tenantId, id);
  assert.ok(first instanceof Promise);
  const read = await first;
  assert.equal(read!.pool.id, id);
  assert.equal(snapshot(tenantId, id), read);
  assert.deepEqual(queries, { revisions: 0, loads: 1 });
});

test("a snapshot holds the pool, its environment, the recipients that are not removed and the enabled rules in order", async () => {
  const tenantId = await newTenant();
  const staging = await environmentId(tenantId, "staging");
  const { id } = await createPool({ tenantId }, { environmentId: staging });
  const paused = await createRecipient({ tenantId }, id);
  const removed = await createRecipient({ tenantId }, id);
  await db.sql`update recipients set status = 'removed' where tenant_id = ${tenantId} and id = ${removed.id}`;
  const second = await createRule({ tenantId }, id, { priority: 7 });
  const first = await createRule({ tenantId }, id, { priority: 3 });
  await createRule({ tenantId }, id, { enabled: false });
  const read = (await node().snapshot(tenantId, id))!;
  assert.deepEqual([read.environmentKey, read.environmentMode], ["staging", "sandbox"]);
  assert.deepEqual(
    read.recipients.map((each) => each.id),
    [paused.id],
  );
  assert.deepEqual(
    read.rules.map((each) => each.id),
    [first.id, second.id],
  );
  assert.match(read.digest, /^[0-9a-f]{64}$/);
  assert.deepEqual(Object.keys(read.pool).sort(), [
    "config",
    "createdAt",
    "description",
    "environmentId",
    "id",
    "name",
    "recordVersion",
    "status",
    "strategy",
    "tenantId",
    "updatedAt",
  ]);
});

test("an unrelated change of the tenant does not reload the pool", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, refresh, queries, announce } = node();
  const read = await snapshot(tenantId, id);
  for (let n = 1; n <= 3; n++) {
    announce(tenantId);
    await refresh(tenantId, id as never);
    assert.equal(snapshot(tenantId, id), read);
    assert.deepEqual(queries, { revisions: n, loads: 1 });
  }
});

test("when a change returns, the node that made it uses it for decisions", async () => {
  const { tenantId, id } = await newPool();
  const choice = { tenantId };
  const { id: recipientId } = await createRecipient(choice, id);
  const { id: ruleId } = await createRule(choice, id);
  const seen = async () => (await pools.snapshot(tenantId, id))!;
  let before: PoolSnapshot = await seen();
  const steps: [() => Promise<unknown>, (snapshot: PoolSnapshot) => boolean][] = [
    [() => createRecipient(choice, id), ({ recipients }) => recipients.length === 2],
    [() => createRule(choice, id), ({ rules }) => rules.length === 2],
    [
      () => perform(db, choice, handlers.recipients.pauseRecipient, PauseRecipientRequestSchema, { recipientId }),
      ({ recipients }) => recipients[0]!.status === "paused",
    ],
    [
      () => perform(db, choice, handlers.rules.updateRule, UpdateRuleRequestSchema, { ruleId, enabled: false }),
      ({ rules }) => rules.length === 1,
    ],
    [() => setEnabled(tenantId, id, false), ({ pool }) => pool.status === "disabled"],
  ];
  for (const [change, holds] of steps) {
    await change();
    const now = await seen();
    assert.ok(holds(now));
    assert.notEqual(now.digest, before.digest);
    before = now;
  }
});

test("after a change of a pool, only the changed recipients are read", async () => {
  const { tenantId, id } = await newPool();
  const created = [];
  for (let n = 0; n < 4; n++) created.push(await createRecipient({ tenantId }, id));
  const [same, paused, removed, last] = created.map((recipient) => recipient.id);
  const { snapshot, poolsOf, refresh, announce, queries } = node();
  const before = (await snapshot(tenantId, id))!;
  const recipientId = paused!;
  await perform(db, { tenantId }, handlers.recipients.pauseRecipient, PauseRecipientRequestSchema, { recipientId });
  await perform(db, { tenantId }, handlers.recipients.deleteRecipient, DeleteRecipientRequestSchema, {
    recipientId: removed!,
  });
  const added = await createRecipient({ tenantId }, id);
  announce(tenantId);
  await refresh(tenantId, id as never);
  const after = (await snapshot(tenantId, id))!;
  assert.deepEqual(
    after.recipients.map((each) => [each.id, each.status]),
    [
      [same, "active"],
      [paused, "paused"],
      [last, "active"],
      [added.id, "active"],
    ],
  );
  assert.equal(after.recipients[0], before.recipients[0], "the same object");
  assert.equal(after.recipients[2], before.recipients[3], "the same object");
  assert.deepEqual(after, await node().snapshot(tenantId, id), "equals a full read");
  assert.equal((await poolsOf(tenantId)).pools.get(id as never), after);
  assert.equal(queries.loads, 2);
});

test("after a change on another node, calls get the previous snapshot while the new one is loaded", async () => {
  const { tenantId, id } = await newPool();
  const other = node();
  const known = await other.snapshot(tenantId, id);
  await describe(tenantId, id, "new");
  assert.equal(other.snapshot(tenantId, id), known, "not announced yet");
  other.announce(tenantId);
  const held = other.hold();
  assert.equal(other.snapshot(tenantId, id), known, "no call waits for the read");
  await held.read;
  assert.equal(other.snapshot(tenantId, id), known);
  held.release();
  await until(() => other.snapshot(tenantId, id) !== known);
  assert.equal((await other.snapshot(tenantId, id))!.pool.description, "new");
  assert.deepEqual(other.queries, { revisions: 1, loads: 2 });
});

test("the previous snapshot is used for at most a second after the first change it lacks", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, announce, clock, hold } = node();
  const known = await snapshot(tenantId, id);
  clock.nowMs = 60_000;
  await describe(tenantId, id, "new");
  announce(tenantId);
  const held = hold();
  clock.nowMs += 999;
  announce(tenantId);
  assert.equal(snapshot(tenantId, id), known);
  clock.nowMs += 1;
  const waiting = snapshot(tenantId, id);
  assert.ok(waiting instanceof Promise, "a further change does not extend the second");
  held.release();
  assert.equal((await waiting)!.pool.description, "new");
});

test("a change that was announced long ago is loaded before the next decision", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, announce, clock } = node();
  await snapshot(tenantId, id);
  await describe(tenantId, id, "new");
  announce(tenantId);
  clock.nowMs += 5000;
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
});

test("while changes of other nodes are unknown, every call looks up the revision", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, standing, queries } = node();
  const read = await snapshot(tenantId, id);
  standing.fresh = false;
  assert.equal(await snapshot(tenantId, id), read);
  await describe(tenantId, id, "new");
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
  assert.deepEqual(queries, { revisions: 2, loads: 2 });
  standing.fresh = true;
  assert.ok(snapshot(tenantId, id) instanceof Promise, "a result read meanwhile is verified once more");
});

test("a read that started before a change and ends after it never replaces a newer snapshot", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, hold, announce, queries } = node();
  const held = hold();
  const early = snapshot(tenantId, id);
  await held.read;
  await describe(tenantId, id, "new");
  announce(tenantId);
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
  held.release();
  assert.equal((await early)!.pool.description, "");
  const now = snapshot(tenantId, id);
  assert.ok(!(now instanceof Promise), "the late result did not replace the newer one");
  assert.equal(now!.pool.description, "new");
  assert.equal(queries.loads, 2);
});

test("a snapshot is consistent even if changes are committed while it is read", async () => {
  const { tenantId, id } = await newPool();
  const meanwhile: Database = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        const slow = new Proxy(tx, {
          apply(target, self, args) {
            const query = () => Reflect.apply(target as never, self, args);
            if (!String(args[0]).includes("from recipients\n")) return query();
            return (async () => {
              // This statement uses the same connection, so the pool has been read when it returns.
              await tx`select 1`;
              await createRecipient({ tenantId }, id);
              return query();
            })();
          },
        });
        return work(slow);
      }),
  };
  const { snapshot } = createSnapshots({ db: meanwhile, changes: announcedChanges().changes });
  assert.equal((await snapshot(tenantId, id))!.recipients.length, 0);
  assert.equal((await node().snapshot(tenantId, id))!.recipients.length, 1);
});

test("concurrent calls share one read", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, queries, announce } = node();
  const results = await Promise.all(Array.from({ length: 20 }, () => snapshot(tenantId, id)));
  assert.equal(new Set(results).size, 1);
  assert.deepEqual(queries, { revisions: 0, loads: 1 });
  announce(tenantId);
  const again = Array.from({ length: 20 }, () => snapshot(tenantId, id));
  assert.ok(again.every((each) => each === results[0]));
  assert.deepEqual(queries, { revisions: 1, loads: 1 });
});

test("a pool of another tenant, an archived pool and an unknown pool are not returned, even from the cache", async () => {
  const { tenantId, id } = await newPool();
  const otherTenant = await newTenant();
  const { snapshot, refresh, announce } = node();
  assert.notEqual(await snapshot(tenantId, id), undefined);
  assert.equal(await snapshot(otherTenant, id), undefined);
  assert.notEqual(snapshot(tenantId, id), undefined, "the owner's snapshot stays cached");
  assert.ok(!(snapshot(tenantId, id) instanceof Promise));
  assert.equal(await snapshot(tenantId, "no id at all"), undefined);
  await db.sql`update pools set status = 'archived', revision = revision + 1 where tenant_id = ${tenantId} and id = ${id}`;
  announce(tenantId);
  await refresh(tenantId, id as never);
  assert.equal(await snapshot(tenantId, id), undefined);
});

test("a failed read rejects its callers, and the next call reads again", async () => {
  const { tenantId, id } = await newPool();
  let broken = true;
  const failing: Database = {
    ...db,
    transaction: (work) => (broken ? Promise.reject(new Error("lost")) : db.transaction(work)),
  };
  const { snapshot } = createSnapshots({ db: failing, changes: announcedChanges().changes });
  await assert.rejects(async () => snapshot(tenantId, id), /lost/);
  broken = false;
  assert.equal((await snapshot(tenantId, id))!.pool.id, id);
});

test("a change is announced on commit and not on rollback", async () => {
  const { tenantId, id } = await newPool();
  const announced: string[] = [];
  const stop = changes.onChange((tenant) => announced.push(tenant ?? "all"));
  await describe(tenantId, id, "kept");
  assert.deepEqual(announced, [tenantId]);
  const refused = perform(db, { tenantId }, handlers.pools.updatePool, UpdatePoolRequestSchema, {
    poolId: id,
    description: "lost",
    recordVersion: 1n,
  });
  await assert.rejects(refused, failsWith("VERSION_CONFLICT"));
  assert.deepEqual(announced, [tenantId]);
  const [row] = await db.sql`select revision from pools where tenant_id = ${tenantId} and id = ${id}`;
  assert.equal(row!.revision, 2);
  stop();
});

test("a requested pool must exist in an environment that the caller may use", async () => {
  const { tenantId, id } = await newPool();
  const caller = (environmentMode: "any" | "production_only" | "non_production_only") => ({
    tenantId,
    principal: { environmentMode } as never,
  });
  assert.equal((await pools.requirePool(caller("production_only"), id)).pool.id, id);
  assert.equal((await pools.requirePool(caller("any"), id)).pool.id, id);
  await assert.rejects(
    async () => pools.requirePool(caller("non_production_only"), id),
    failsWith("PERMISSION_DENIED"),
  );
  await assert.rejects(async () => pools.requirePool(caller("any"), "none"), failsWith("NOT_FOUND"));
});
