import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { type Connections, createSignals, type Database } from "../../../../platform/db/index.ts";
import { admissionStage, type StagedPool } from "../testing/admission-stage.ts";
import { createLeasing, type WorkAsked } from "./lease-service.ts";

const db = await testDatabase();
const stage = admissionStage(db);
const concurrency = { key: "item.key", limit: 1000, scope: "pool" } as const;

/** A database that counts the transactions that run at once. */
function counted() {
  const seen = { running: 0, most: 0, begun: 0 };
  const count = (connections: Connections): Connections => ({
    sql: connections.sql,
    async transaction(work) {
      seen.begun++;
      seen.most = Math.max(seen.most, ++seen.running);
      try {
        return await connections.transaction(work);
      } finally {
        seen.running--;
      }
    },
  });
  const database: Database = { ...db, ...count(db), steady: count(db.steady) };
  return { seen, leasing: createLeasing({ db: database, signals: createSignals(db) }) };
}

/** Queues one item for each recipient, all in one concurrency group. */
async function enqueueFor(pool: StagedPool, recipientIds: readonly string[]): Promise<void> {
  for (const recipientId of recipientIds) {
    const { id } = await stage.enqueue(pool, { key: "all" });
    await db.sql`update queue_items set recipient_id = ${recipientId} where id = ${id}`;
  }
}

function workOf({ tenantId, poolId, environmentId }: StagedPool, recipientId: string): WorkAsked {
  return {
    tenantId,
    poolId,
    environmentId,
    recipientId,
    limits: { concurrency },
    recipientIds: [recipientId],
    unchosen: false,
    delivery: "pull",
    capacity: 0,
    leaseS: 600,
    ageingMs: 60_000,
    max: 1,
    waitMs: 0,
    signal: new AbortController().signal,
  };
}

const recipientIds = Array.from({ length: 20 }, (_, n) => `recipient-${n}`);

test("workers of many recipients of a limited pool use one transaction at a time, and all get their items", async () => {
  const pool = await stage.pool({ concurrency });
  await enqueueFor(pool, recipientIds);
  const { seen, leasing } = counted();
  const leases = await Promise.all(
    recipientIds.map((id, n) =>
      n % 2 === 0 ? leasing.lease(workOf(pool, id)) : leasing.lease(workOf(pool, id), undefined, async () => {}),
    ),
  );
  assert.deepEqual(
    leases.map(({ rows }) => rows.map(({ recipientId }) => recipientId)),
    recipientIds.map((id) => [id]),
  );
  assert.equal(seen.most, 1);
});

test("limited pools of one tenant use at most two transactions at a time", async () => {
  const first = await stage.pool({ concurrency });
  const pools = [first];
  for (let n = 0; n < 3; n++) pools.push(await stage.pool({ concurrency }, { tenantId: first.tenantId }));
  for (const pool of pools) await enqueueFor(pool, recipientIds.slice(0, 4));
  const { seen, leasing } = counted();
  const leases = await Promise.all(
    pools.flatMap((pool) => recipientIds.slice(0, 4).map((id) => leasing.lease(workOf(pool, id)))),
  );
  assert.equal(leases.filter(({ rows }) => rows.length === 1).length, 16);
  assert.equal(seen.most, 2);
});

test("a worker that goes away while it queues for a limited pool takes nothing", async () => {
  const pool = await stage.pool({ concurrency });
  await enqueueFor(pool, recipientIds.slice(0, 3));
  const { seen, leasing } = counted();
  const gone = new AbortController();
  const [first, ...others] = recipientIds.slice(0, 3).map((id) => workOf(pool, id));
  const kept = leasing.lease(first!, undefined, async () => gone.abort());
  const left = [
    leasing.lease({ ...others[0]!, signal: gone.signal }),
    leasing.lease({ ...others[1]!, signal: gone.signal }, undefined, async () => {}),
  ];
  assert.equal((await kept).rows.length, 1);
  assert.deepEqual(
    (await Promise.all(left)).map(({ rows }) => rows.length),
    [0, 0],
  );
  assert.equal(seen.begun, 1);
});
