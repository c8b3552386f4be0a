import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { type Connections, createSignals, type Database } from "../../../../platform/db/index.ts";
import { admissionFixture, type StagedPool } from "../testing/admission-fixture.ts";
import { leaseParts } from "../testing/lease-parts.ts";
import { createLeaseService, type LeaseRequest } from "./lease-service.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const concurrency = { key: "item.key", limit: 1000, scope: "pool" } as const;

/** A lease service over a database that counts concurrent transactions. */
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
  const database: Database = { ...db, ...count(db), genericPlans: count(db.genericPlans) };
  return { seen, leaseService: createLeaseService(leaseParts(database, createSignals(db))) };
}

/** Enqueues one item for each recipient, all in one concurrency group. */
async function enqueueFor(pool: StagedPool, recipientIds: readonly string[]): Promise<void> {
  for (const recipientId of recipientIds) {
    const { id } = await fixture.enqueue(pool, { key: "all" });
    await db.sql`update queue_items set recipient_id = ${recipientId} where id = ${id}`;
  }
}

function requestOf({ tenantId, poolId, environmentId }: StagedPool, recipientId: string): LeaseRequest {
  return {
    tenantId,
    poolId,
    environmentId,
    recipientId,
    limits: { concurrency },
    recipientIds: [recipientId],
    unassigned: false,
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
  const pool = await fixture.pool({ concurrency });
  await enqueueFor(pool, recipientIds);
  const { seen, leaseService } = counted();
  const leases = await Promise.all(
    recipientIds.map((id, n) =>
      n % 2 === 0
        ? leaseService.lease(requestOf(pool, id))
        : leaseService.lease(requestOf(pool, id), undefined, async () => {}),
    ),
  );
  assert.deepEqual(
    leases.map(({ rows }) => rows.map(({ recipientId }) => recipientId)),
    recipientIds.map((id) => [id]),
  );
  assert.equal(seen.most, 1);
});

test("limited pools of one tenant use at most two transactions at a time", async () => {
  const first = await fixture.pool({ concurrency });
  const pools = [first];
  for (let n = 0; n < 3; n++) pools.push(await fixture.pool({ concurrency }, { tenantId: first.tenantId }));
  for (const pool of pools) await enqueueFor(pool, recipientIds.slice(0, 4));
  const { seen, leaseService } = counted();
  const leases = await Promise.all(
    pools.flatMap((pool) => recipientIds.slice(0, 4).map((id) => leaseService.lease(requestOf(pool, id)))),
  );
  assert.equal(leases.filter(({ rows }) => rows.length === 1).length, 16);
  assert.equal(seen.most, 2);
});

test("a worker that disconnects while it queues for a limited pool leases nothing", async () => {
  const pool = await fixture.pool({ concurrency });
  await enqueueFor(pool, recipientIds.slice(0, 3));
  const { seen, leaseService } = counted();
  const aborted = new AbortController();
  const [first, ...others] = recipientIds.slice(0, 3).map((id) => requestOf(pool, id));
  const served = leaseService.lease(first!, undefined, async () => aborted.abort());
  const skipped = [
    leaseService.lease({ ...others[0]!, signal: aborted.signal }),
    leaseService.lease({ ...others[1]!, signal: aborted.signal }, undefined, async () => {}),
  ];
  assert.equal((await served).rows.length, 1);
  assert.deepEqual(
    (await Promise.all(skipped)).map(({ rows }) => rows.length),
    [0, 0],
  );
  assert.equal(seen.begun, 1);
});
