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
import { until } from "../../../../../test/harness/embedded-owner.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";
import { countingNode } from "../testing/counting-node.ts";
import { poolBench } from "../testing/pool-bench.ts";
import { createSnapshots } from "./snapshots.ts";

const bench = await poolBench();
const { db, pools, handlers, changes, newTenant, environmentId, createPool, createRecipient, createRule } = bench;

const node = () => countingNode(db);

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

test("a pool is read once and then given without waiting", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, asked } = node();
  const first = snapshot(tenantId, id);
  assert.ok(first instanceof Promise);
  const read = await first;
  assert.equal(read!.pool.id, id);
  assert.equal(snapshot(tenantId, id), read);
  assert.deepEqual(asked, { revisions: 0, loads: 1 });
});

test("a snapshot holds the pool, its environment, those who are not removed and the rules that apply, in order", async () => {
  const tenantId = await newTenant();
  const staging = await environmentId(tenantId, "staging");
  const { id } = await createPool({ tenantId }, { environmentId: staging });
  const paused = await createRecipient({ tenantId }, id);
  const gone = await createRecipient({ tenantId }, id);
  await db.sql`update recipients set status = 'removed' where tenant_id = ${tenantId} and id = ${gone.id}`;
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

test("when something else of the tenant changed, the pool is not read again", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, refresh, asked, announce } = node();
  const read = await snapshot(tenantId, id);
  for (let n = 1; n <= 3; n++) {
    announce(tenantId);
    await refresh(tenantId, id as never);
    assert.equal(snapshot(tenantId, id), read);
    assert.deepEqual(asked, { revisions: n, loads: 1 });
  }
});

test("when a change is answered, the node that made it decides by it", async () => {
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

test("of a pool that changed only the recipients that did are read again", async () => {
  const { tenantId, id } = await newPool();
  const made = [];
  for (let n = 0; n < 4; n++) made.push(await createRecipient({ tenantId }, id));
  const [same, paused, removed, last] = made.map((recipient) => recipient.id);
  const { snapshot, poolsOf, refresh, announce, asked } = node();
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
  assert.deepEqual(after, await node().snapshot(tenantId, id), "no other than what is read as a whole");
  assert.equal((await poolsOf(tenantId)).pools.get(id as never), after);
  assert.equal(asked.loads, 2);
});

test("after a change elsewhere, calls get the last snapshot while the next one is read", async () => {
  const { tenantId, id } = await newPool();
  const other = node();
  const known = await other.snapshot(tenantId, id);
  await describe(tenantId, id, "new");
  assert.equal(other.snapshot(tenantId, id), known, "not told yet");
  other.announce(tenantId);
  const held = other.hold();
  assert.equal(other.snapshot(tenantId, id), known, "no call waits for the read");
  await held.read;
  assert.equal(other.snapshot(tenantId, id), known);
  held.release();
  await until(() => other.snapshot(tenantId, id) !== known);
  assert.equal((await other.snapshot(tenantId, id))!.pool.description, "new");
  assert.deepEqual(other.asked, { revisions: 1, loads: 2 });
});

test("the last snapshot serves for at most a second after the first change that it lacks", async () => {
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
  assert.ok(waiting instanceof Promise, "a further change does not lengthen it");
  held.release();
  assert.equal((await waiting)!.pool.description, "new");
});

test("a change that nobody asked about for long is read before the next decision", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, announce, clock } = node();
  await snapshot(tenantId, id);
  await describe(tenantId, id, "new");
  announce(tenantId);
  clock.nowMs += 5000;
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
});

test("while changes of other nodes are not known, the revision is looked up every time", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, standing, asked } = node();
  const read = await snapshot(tenantId, id);
  standing.fresh = false;
  assert.equal(await snapshot(tenantId, id), read);
  await describe(tenantId, id, "new");
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
  assert.deepEqual(asked, { revisions: 2, loads: 2 });
  standing.fresh = true;
  assert.ok(snapshot(tenantId, id) instanceof Promise, "what was read meanwhile is looked up once more");
});

test("what was read before a change and arrives after it never replaces what is newer", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, hold, announce, asked } = node();
  const held = hold();
  const early = snapshot(tenantId, id);
  await held.read;
  await describe(tenantId, id, "new");
  announce(tenantId);
  assert.equal((await snapshot(tenantId, id))!.pool.description, "new");
  held.release();
  assert.equal((await early)!.pool.description, "");
  const now = snapshot(tenantId, id);
  assert.ok(!(now instanceof Promise), "what came late did not take the place of what is newer");
  assert.equal(now!.pool.description, "new");
  assert.equal(asked.loads, 2);
});

test("all that a snapshot holds was so at one moment, whatever is committed while it is read", async () => {
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
              // On the same connection, so that the pool has been read by then.
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

test("many who ask at once are served by one read", async () => {
  const { tenantId, id } = await newPool();
  const { snapshot, asked, announce } = node();
  const answers = await Promise.all(Array.from({ length: 20 }, () => snapshot(tenantId, id)));
  assert.equal(new Set(answers).size, 1);
  assert.deepEqual(asked, { revisions: 0, loads: 1 });
  announce(tenantId);
  const again = Array.from({ length: 20 }, () => snapshot(tenantId, id));
  assert.ok(again.every((each) => each === answers[0]));
  assert.deepEqual(asked, { revisions: 1, loads: 1 });
});

test("a pool of another tenant, an archived one and one that there is not are none, also when they are known", async () => {
  const { tenantId, id } = await newPool();
  const stranger = await newTenant();
  const { snapshot, refresh, announce } = node();
  assert.notEqual(await snapshot(tenantId, id), undefined);
  assert.equal(await snapshot(stranger, id), undefined);
  assert.notEqual(snapshot(tenantId, id), undefined, "the owner's stays known");
  assert.ok(!(snapshot(tenantId, id) instanceof Promise));
  assert.equal(await snapshot(tenantId, "no id at all"), undefined);
  await db.sql`update pools set status = 'archived', revision = revision + 1 where tenant_id = ${tenantId} and id = ${id}`;
  announce(tenantId);
  await refresh(tenantId, id as never);
  assert.equal(await snapshot(tenantId, id), undefined);
});

test("a read that fails is told to who asked, and the next one reads again", async () => {
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

test("a change is announced when it is committed, and not when it is rolled back", async () => {
  const { tenantId, id } = await newPool();
  const announced: string[] = [];
  const stop = changes.onChange((tenant) => announced.push(tenant));
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

test("the pool that a caller names must be there, and in an environment that the caller may use", async () => {
  const { tenantId, id } = await newPool();
  const caller = (environmentMode: "any" | "production_only" | "non_production_only") => ({
    tenantId,
    principal: { environmentMode } as never,
  });
  assert.equal((await pools.usable(caller("production_only"), id)).pool.id, id);
  assert.equal((await pools.usable(caller("any"), id)).pool.id, id);
  await assert.rejects(async () => pools.usable(caller("non_production_only"), id), failsWith("PERMISSION_DENIED"));
  await assert.rejects(async () => pools.usable(caller("any"), "none"), failsWith("NOT_FOUND"));
});
