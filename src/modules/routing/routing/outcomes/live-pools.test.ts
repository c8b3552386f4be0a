import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import { fail } from "../../../../errors/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PoolId } from "../../pools/index.ts";
import { poolOf } from "../domain/testing/fixtures.ts";
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

/** A pool with a recipient that one failure ejects, on a node whose transactions can fail. */
function ejectingNode() {
  let isDown = false;
  let aheadMs = 0;
  const reads: Promise<unknown>[] = [];
  const node: Database = {
    ...db,
    sql: ((...statement: Parameters<typeof db.sql>) => {
      const read = db.sql(...statement);
      reads.push(Promise.resolve(read));
      return read;
    }) as typeof db.sql,
    transaction: ((work: never) =>
      isDown ? Promise.reject(fail("UNAVAILABLE")) : db.transaction(work)) as Database["transaction"],
  };
  const tenantId = freshTenant();
  const poolId = ulid(Date.now()) as PoolId;
  const recipientId = ulid(Date.now());
  const outlier = { consecutiveFailures: 1, ejectS: 3600, maxEjectedPct: 100 };
  const { snapshot } = poolOf({ recipients: [{ id: recipientId }], config: { outlier } });
  const owned = { ...snapshot, pool: { ...snapshot.pool, tenantId, id: poolId } };
  const events = recordedEvents();
  const clock = { now: () => Date.now() + aheadMs };
  const pools = createLivePools({ db: node, clock, log: { warn: () => {} } as never, events: events as never });
  return {
    pools,
    events,
    ejectedCount: async () => (await pools.view(owned)).live.ejectedCount(clock.now()),
    eject: () => pools.recordOutcomes([{ tenantId, poolId, recipientId, status: "failure" }], clock.now()),
    /** Reads the stored state again because it is old. */
    async refresh() {
      aheadMs += 60_000;
      await pools.view(owned);
      await Promise.all(reads);
      await nextTurn();
    },
    setDown(down: boolean) {
      isDown = down;
    },
    save: () => pools.stop(),
    storeHealthy: () => db.sql`
      insert into recipient_states (tenant_id, pool_id, recipient_id, updated_at)
      values (${tenantId}, ${poolId}, ${recipientId}, now())`,
    isStored: async () => {
      const rows = await db.sql`
        select from recipient_states where recipient_id = ${recipientId} and ejected_until > now()`;
      return rows.length > 0;
    },
  };
}

test("an ejection that could not be saved is saved later, with its event", async () => {
  const { events, ejectedCount, eject, setDown, save, isStored } = ejectingNode();
  await ejectedCount();
  eject();
  setDown(true);
  await save();
  assert.deepEqual([await isStored(), events.recorded.length], [false, 0]);
  setDown(false);
  await save();
  assert.equal(await isStored(), true);
  assert.deepEqual(
    events.recorded.map(({ type }) => type),
    ["recipient.ejected"],
  );
});

test("a recipient stays ejected when the stored state is read before its ejection is saved", async () => {
  const { ejectedCount, eject, refresh, setDown, save, storeHealthy } = ejectingNode();
  await storeHealthy();
  assert.equal(await ejectedCount(), 0);
  eject();
  await refresh();
  assert.equal(await ejectedCount(), 1);
  setDown(true);
  await save();
  await refresh();
  assert.equal(await ejectedCount(), 1, "it could not be saved");
});
