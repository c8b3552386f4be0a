import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
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
