import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { offerItems } from "../../queues/index.ts";
import {
  assignItems,
  holdItems,
  makeLeasable,
  poolsWithUnassigned,
  postponeItems,
  type WaitingPool,
} from "./assignment-store.ts";

const db = await testDatabase();

const poolOf = (tenantId: TenantId): WaitingPool => ({ tenantId, poolId: ulid(Date.now()) });

/** Puts an undecided item into a pool. */
async function enqueue({ tenantId, poolId }: WaitingPool): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, delivery, priority, rank, expires_at, type, key,
      attributes, requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${poolId}, 'ready', 'undecided', 0, 0, now() + interval '1 hour', 't', '', '{}', '{}', '{}', 0,
      'queued', '', '', 0, '{}')`;
  return id;
}

const postponed = { tries: 1, reason: "all_at_capacity", snapshot: "", retryInS: 60, isNewRound: false };
const writes: Record<string, (pool: WaitingPool, id: string) => Promise<unknown>> = {
  "assign it to a recipient": (pool, id) => assignItems(db.sql, pool, [{ id, recipientId: "r", delivery: "pull" }]),
  "postpone it": (pool, id) => postponeItems(db.sql, pool, [{ id, ...postponed }]),
  "offer it to a recipient": (pool, id) => offerItems(db.sql, pool, [{ id, recipientId: "r", isNewRound: false }], 60),
  "make it available for leasing": (pool, id) => makeLeasable(db.sql, pool, [id]),
  "hold it": (pool, id) => holdItems(db.sql, pool, [{ id, holdS: 60 }]),
};

for (const [name, write] of Object.entries(writes)) {
  test(`a node that decided an item before another node redirected it cannot ${name}`, async () => {
    const tenantId = freshTenant();
    const [before, after] = [poolOf(tenantId), poolOf(tenantId)];
    const id = await enqueue(after);
    const rowOf = () => db.sql`select * from queue_items where tenant_id = ${tenantId} and id = ${id}`;
    const [asSent] = await rowOf();
    await write(before, id);
    assert.deepEqual((await rowOf())[0], asSent);
    await write(after, id);
    assert.notDeepEqual((await rowOf())[0], asSent);
  });
}

test("pools in which items wait are found page by page, each once", async () => {
  const tenantId = freshTenant();
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const pool = poolOf(tenantId);
    ids.push(pool.poolId);
    await db.sql`
      insert into pools (tenant_id, id, environment_id, name, strategy, status, created_at, updated_at)
      values (${tenantId}, ${pool.poolId}, ${ulid(Date.now())}, ${`pool ${nth}`}, 'manual', 'active', now(), now())`;
    await enqueue(pool);
  }
  const seen: string[] = [];
  let after: WaitingPool | undefined;
  do {
    const page = await poolsWithUnassigned(db.sql, { after, limit: 2, tenantId });
    seen.push(...page.pools.map(({ poolId }) => poolId));
    after = page.last;
  } while (after !== undefined);
  assert.deepEqual(seen, ids.sort());
});
