import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryDeadLettersRequestSchema } from "../../../../../gen/service/api/dead_letter_pb.ts";
import { perform, recordedEvents } from "../../../../../test/harness/context.ts";
import { freshDatabase } from "../../../../../test/harness/postgres.ts";
import { openDatabase } from "../../../../platform/db/index.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import { createDeadLetters } from "../../dead-letters/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { admissionFixture, constraints } from "../testing/admission-fixture.ts";
import { createReadmission } from "./dead-letter-readmission.ts";

test("retries that name letters in opposite orders and leases at the same time never deadlock", async (t) => {
  const { url, drop, sql } = await freshDatabase();
  t.after(drop);
  const db = openDatabase(url, { maxConnections: 12 });
  const fixture = admissionFixture(db);
  const singleton = { ...constraints.singleton, mode: "replace_pending" as const };
  const pool = await fixture.pool({ singleton, concurrency: { ...constraints.concurrency, limit: 2 } });
  const { tenantId, poolId } = pool;
  const snapshot = fixture.snapshots.get(poolId)!;
  const config = { ...snapshot.pool.config, queue: { ttlS: 3600, ageingS: 60 } };
  const requirePool = async () => ({ ...snapshot, pool: { ...snapshot.pool, config } }) as PoolSnapshot;
  const deadLetters = createDeadLetters({
    sql: db.sql,
    events: recordedEvents(),
    clock: { now: Date.now },
    platformTenantId: () => "",
    wake: () => {},
    readmission: () => createReadmission(fixture.admissionOf, createEventLoopScheduler()),
    pools: { requireKnownPool: requirePool, requireRetryPool: requirePool },
  });
  const ids: string[] = [];
  for (let nth = 0; nth < 12; nth++) ids.push((await fixture.enqueue(pool, { key: `first ${nth}` })).id);
  // Two letters share each key: the later one replaces the earlier.
  for (const [nth, id] of ids.entries()) await db.sql`update queue_items set key = ${`k${nth % 6}`} where id = ${id}`;
  const letters = ids.map((queueItemId) => ({
    poolId,
    queueItemId,
    reasonCode: "worker_failed",
    phase: "work" as const,
    attempts: [],
    maxRetries: 1000,
    failedAt: new Date(),
  }));
  await db.transaction((tx) => deadLetters.record(tx, tenantId, letters));

  const retry = async (queueItemIds: string[]) => {
    const request = { poolId, queueItemIds };
    const { retryDeadLetters } = deadLetters.handlers;
    const response = await perform(db, { tenantId }, retryDeadLetters, RetryDeadLettersRequestSchema, request);
    return Number((response as { retriedCount: bigint }).retriedCount);
  };
  let [retried, leased] = [0, 0];
  // Which of them finds work depends on the timing, so it may take more rounds until a lease has found some.
  for (let round = 0; round < 25 || (leased === 0 && round < 250); round++) {
    await db.sql`update queue_items set state = 'dead_lettered', has_slot = false where tenant_id = ${tenantId}`;
    await db.sql`update dead_letters set state = 'failed' where tenant_id = ${tenantId}`;
    await db.sql`update admission_groups set item_id = '', in_use = 0 where tenant_id = ${tenantId}`;
    const [one, other, some, more] = await Promise.all([
      retry(ids),
      retry(ids.toReversed()),
      fixture.lease(pool, 6),
      retry(ids.slice(3, 9)).then(() => fixture.lease(pool, 6)),
    ]);
    retried += one + other;
    leased += some.length + more.length;
  }
  assert.ok(retried > 0 && leased > 0, `${retried} retried, ${leased} leased`);
  // Backends report their statistics when they exit.
  await db.close();
  const [row] = await sql<{ deadlocks: string }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  assert.equal(Number(row!.deadlocks), 0);
});
