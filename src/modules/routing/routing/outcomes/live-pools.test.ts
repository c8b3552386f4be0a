import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PoolId } from "../../pools/index.ts";
import { SlicedDecision } from "../domain/decision-engine.ts";
import { at, itemOf, poolOf } from "../domain/testing/fixtures.ts";
import { createLivePools } from "./live-pools.ts";

const db = await testDatabase();

test("a node whose first read of a pool's state fails reads it again before it decides", async () => {
  let isDown = true;
  const failing: Database = {
    ...db,
    get sql() {
      if (isDown) throw new Error("The database is down.");
      return db.sql;
    },
  };
  const tenantId = freshTenant();
  const poolId = ulid(Date.now()) as PoolId;
  const recipientId = ulid(Date.now());
  const { snapshot } = poolOf({ recipients: [{ id: recipientId }] });
  const owned = { ...snapshot, pool: { ...snapshot.pool, tenantId, id: poolId } };
  await db.sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, ejected_until, updated_at)
    values (${tenantId}, ${poolId}, ${recipientId}, now() + interval '1 hour', now())`;
  const log = { warn: () => {} } as never;
  const pools = createLivePools({ db: failing, clock: { now: Date.now }, log, events: recordedEvents() as never });
  await assert.rejects(async () => pools.view(owned), /The database is down/);
  isDown = false;
  const { live } = await pools.view(owned);
  assert.equal(live.ejectedCount(Date.now()), 1);
});

/** A pool on one node that ejects a recipient after its first failure, for an hour. */
async function failingPool(database: Database) {
  const tenantId = freshTenant();
  const poolId = ulid(Date.now()) as PoolId;
  const recipientId = ulid(Date.now());
  const config = { outlier: { consecutiveFailures: 1, ejectS: 3600, maxEjectedPct: 100 } };
  const { snapshot } = poolOf({ recipients: [{ id: recipientId }], config });
  const owned = { ...snapshot, pool: { ...snapshot.pool, tenantId, id: poolId } };
  await db.sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, updated_at)
    values (${tenantId}, ${poolId}, ${recipientId}, now())`;
  const recorded = recordedEvents();
  const log = { warn: () => {} } as never;
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
  let passedMs = 1;
  const monotonicMs = () => passedMs;
  const pools = createLivePools({ db: database, clock, monotonicMs, log, events: recorded as never });
  await pools.view(owned);
  return {
    ...{ pools, clock, recorded },
    view: async () => pools.view(owned),
    /** Lets time pass. */
    pass(ms: number) {
      passedMs += ms;
    },
    /** Changes the stored state, so that the next read of it can be noticed. */
    deprioritize: () => db.sql`
      update recipient_states set deprioritized_until = now() + interval '1 hour' where recipient_id = ${recipientId}`,
    fail: () => pools.recordOutcomes([{ tenantId, poolId, recipientId, status: "failure" }], clock.now()),
    async isStoredEjected() {
      const [row] = await db.sql<{ ejected: boolean }[]>`
        select ejected_until is not null as ejected from recipient_states where recipient_id = ${recipientId}`;
      return row!.ejected;
    },
  };
}

test("an ejection that cannot be saved is saved later, with its event", async () => {
  let isDown = true;
  const failing: Database = {
    ...db,
    transaction: (work) => (isDown ? Promise.reject(new Error("The database is down.")) : db.transaction(work)),
  };
  const { pools, fail, isStoredEjected, recorded } = await failingPool(failing);
  fail();
  await pools.stop();
  assert.equal(await isStoredEjected(), false);
  isDown = false;
  await pools.stop();
  assert.equal(await isStoredEjected(), true);
  assert.deepEqual(
    recorded.recorded.map(({ type }) => type),
    ["recipient.ejected"],
  );
});

test("the stored state of a recipient does not end an ejection that is not saved yet", async () => {
  const node = await failingPool(db);
  node.fail();
  await node.deprioritize();
  node.pass(60_000);
  const { live } = await node.view();
  await until(() => live.deprioritizedUntilMs[0]! > 0);
  assert.equal(live.ejectedCount(Date.now()), 1);
});

test("a node whose clock is set back still reads the state of its pools again", async () => {
  const node = await failingPool(db);
  await node.deprioritize();
  node.pass(60_000);
  node.clock.aheadMs = -3_600_000;
  const { live } = await node.view();
  await until(() => live.deprioritizedUntilMs[0]! > 0);
});

test("a decision that waits for its slice does not choose a paused recipient when another caller views an older snapshot", async () => {
  const tenantId = freshTenant();
  const id = ulid(Date.now()) as PoolId;
  const snapshotWith = (status: "active" | "paused", revision: number) => {
    const recipients = [
      { id: "first", priority: 1, status },
      { id: "second", priority: 2 },
    ];
    const { snapshot } = poolOf({ strategy: "priority", recipients });
    return { ...snapshot, pool: { ...snapshot.pool, tenantId, id }, digest: status, revision };
  };
  const [before, after] = [snapshotWith("active", 1), snapshotWith("paused", 2)];
  const pools = createLivePools({ db, clock: { now: Date.now }, log: {} as never, events: recordedEvents() as never });
  await pools.view(before);
  const { pool, live } = await pools.view(after);
  const waiting = new SlicedDecision(pool, live, itemOf(), at(1));
  // A scan of the queue that began before the pause continues.
  await pools.view(before);
  assert.equal(waiting.proceed(() => false)!.recipientId, "second");
});

test("a caller with the snapshot of an ended canary decides by that snapshot after the next canary has started", async () => {
  const { snapshot } = poolOf({ strategy: "priority", recipients: [{ id: "only" }] });
  const pool = { ...snapshot.pool, tenantId: freshTenant(), id: ulid(Date.now()) as PoolId };
  const sideOfCanary = (candidateId: string, revision: number) => ({
    ...{ ...snapshot, pool, candidateId, revision, digest: candidateId },
  });
  const pools = createLivePools({ db, clock: { now: Date.now }, log: {} as never, events: recordedEvents() as never });
  const [ended, started] = [sideOfCanary("ended", 1), sideOfCanary("started", 2)];
  await pools.view({ ...snapshot, pool });
  await pools.view(started);
  assert.equal((await pools.view(ended)).pool.snapshot.candidateId, "ended");
});
