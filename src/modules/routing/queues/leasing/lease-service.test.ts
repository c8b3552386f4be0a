import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { admissionFixture, type StagedPool } from "../testing/admission-fixture.ts";
import { leaseParts, leaseRequestOf } from "../testing/lease-parts.ts";
import { createLeaseService, queueTopic } from "./lease-service.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const signals = createSignals(db);
const leaseService = createLeaseService(leaseParts(db, signals));

const requestOf = (pool: StagedPool, recheckAccess: () => Promise<void>) =>
  leaseRequestOf(pool, { waitMs: 20_000, recheckAccess });

test("a worker's access is rechecked only after a wait", async () => {
  const pool = await fixture.pool({});
  let checks = 0;
  const recheckAccess = async () => void checks++;
  const { id } = await fixture.enqueue(pool);
  const { rows } = await leaseService.lease(requestOf(pool, recheckAccess));
  assert.deepEqual([rows.map((row) => row.id), checks], [[id], 0]);

  const waited = Promise.withResolvers<number>();
  const startedAtMs = performance.now();
  const waiting = leaseService.lease({ ...requestOf(pool, recheckAccess), onWaited: waited.resolve });
  signals.wake(queueTopic(pool.tenantId, pool.poolId));
  const waitedMs = await waited.promise;
  assert.ok(waitedMs >= 0 && waitedMs <= performance.now() - startedAtMs, `${waitedMs} ms`);
  const next = await fixture.enqueue(pool);
  signals.wake(queueTopic(pool.tenantId, pool.poolId));
  assert.deepEqual(
    (await waiting).rows.map((row) => row.id),
    [next.id],
  );
  // Before and after the scan that found the item.
  assert.ok(checks >= 2, `${checks} checks`);
});

test("a worker that does not wait gets items that a background statement has locked for a moment", async () => {
  const pool = await fixture.pool({});
  for (let n = 0; n < 3; n++) await fixture.enqueue(pool);
  const [locked, found] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = db.transaction(async (tx) => {
    await tx`select from queue_items where pool_id = ${pool.poolId} for update`;
    locked.resolve();
    await found.promise;
  });
  await locked.promise;
  // A lease that finds nothing checks whether an item is ready. Only then is the lock released.
  let isContended = false;
  const sql = new Proxy(db.genericPlans.sql, {
    apply(target, self, statement) {
      const send = () => Reflect.apply(target, self, statement);
      if (!String(statement[0]).includes("as found")) return send();
      isContended = true;
      found.resolve();
      return locking.then(send);
    },
  });
  const { lease } = createLeaseService(leaseParts({ ...db, genericPlans: { ...db.genericPlans, sql } }, signals));
  const { rows } = await lease(leaseRequestOf(pool, { max: 3 })).finally(found.resolve);
  assert.deepEqual([rows.length, isContended], [3, true]);
});

test("an offer is accepted with its number, by its recipient and until it expires, even if nothing has ended it yet", async () => {
  const pool = await fixture.pool({});
  const { id } = await fixture.enqueue(pool);
  const offerFor = (seconds: number) => db.sql`
    update queue_items set state = 'held', hold_reason = 'offer', recipient_id = 'ada', offer_number = 2,
      offered_at = now(), due_at = now() + make_interval(secs => ${seconds})
    where tenant_id = ${pool.tenantId} and id = ${id}`;
  const accept = async (recipientId: string, number: number) => {
    const request = leaseRequestOf(pool, { recipientId, unassigned: false });
    return (await leaseService.acceptOffer(request, { itemId: id, number }, async () => {})).rows.length;
  };
  await offerFor(0);
  assert.equal(await accept("ada", 2), 0);
  await offerFor(60);
  assert.deepEqual([await accept("ada", 1), await accept("bob", 2), await accept("ada", 2)], [0, 0, 1]);
});

test("a lease takes few large items, the first by rank, and leaves the rest ready; each of many workers gets one", async () => {
  const pool = await fixture.pool({});
  const added: string[] = [];
  for (let n = 0; n < 40; n++) added.push((await fixture.enqueue(pool)).id);
  const { tenantId, poolId } = pool;
  await db.sql`
    update queue_items set payload = json_build_object('text', repeat('x', 250000))
    where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  const { rows } = await leaseService.lease(leaseRequestOf(pool, { max: 1000 }));
  assert.ok(rows.length >= 8 && rows.length <= 10, `${rows.length} items`);
  assert.deepEqual(
    rows.map(({ id }) => id),
    added.slice(0, rows.length),
  );
  const shared = await Promise.all(
    Array.from({ length: 12 }, () => leaseService.lease(leaseRequestOf(pool, { max: 20 }))),
  );
  const counts = shared.map((lease) => lease.rows.length);
  assert.ok(Math.min(...counts) >= 1, counts.join());
  const left = await leaseService.lease(leaseRequestOf(pool, { max: 1000 }));
  const leased = [...rows, ...shared.flatMap((lease) => lease.rows), ...left.rows].map(({ id }) => id);
  assert.equal(new Set(leased).size, leased.length);
  assert.deepEqual(leased.toSorted(), added.slice(0, leased.length).toSorted());
});
