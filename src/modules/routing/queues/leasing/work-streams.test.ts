import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedItem } from "../../../../../gen/service/api/work_pb.ts";
import { failsWith, testDatabase } from "../../../../../test/harness/context.ts";
import { markWritten } from "../../../../chain/stream.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import type { FinishedItem } from "../completion/completion-service.ts";
import { admissionFixture, type StagedPool } from "../testing/admission-fixture.ts";
import { leaseParts, leaseRequestOf } from "../testing/lease-parts.ts";
import { createLeaseService } from "./lease-service.ts";
import { findHeldLeases } from "./lease-store.ts";
import { createWorkStreams, type WorkStreamRequest } from "./work-streams.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const leaseService = createLeaseService({ ...leaseParts(db, createSignals(db)), wake: () => {} });

function createHealthFixture() {
  const streams = createWorkStreams(db.sql);
  const open = (pool: StagedPool, fields: Partial<WorkStreamRequest> = {}) =>
    streams.open({
      tenantId: pool.tenantId,
      maxInFlight: 2,
      signal: new AbortController().signal,
      hasCapacity: () => false,
      lease: (max, signal) => leaseFrom(pool, max, signal),
      returnItems: (leases) => leaseService.returnItems({ ...pool, ageingMs: 60_000 }, leases),
      ...fields,
    });
  return { streams, open };
}

async function leaseFrom(pool: StagedPool, max: number, signal: AbortSignal): Promise<LeasedItem[]> {
  const { rows } = await leaseService.lease(leaseRequestOf(pool, { max, waitMs: 1000, signal }));
  return rows.map(({ id, leaseToken }) => ({ queueItemId: id, leaseToken }) as LeasedItem);
}

async function isHeld({ tenantId }: StagedPool, { queueItemId, leaseToken }: LeasedItem): Promise<boolean> {
  return (await findHeldLeases(db.sql, tenantId, [{ id: queueItemId, leaseToken }])).length === 1;
}

test("items of a message that was not written are returned when the stream is cancelled", async () => {
  const pool = await fixture.pool({});
  const { streams, open } = createHealthFixture();
  await fixture.enqueue(pool);
  const stream = open(pool);
  const { value } = await stream.next();
  const [item] = value!.items;
  assert.equal(await isHeld(pool, item!), true);
  await stream.return!();
  await streams.idle();
  assert.equal(await isHeld(pool, item!), false);
  // It was not delivered, so the attempt does not count.
  const [row] = await db.sql`select state, attempt from queue_items where id = ${item!.queueItemId}`;
  assert.deepEqual(row, { state: "ready", attempt: 0 });
});

test("items of a message that was written stay leased when the stream is cancelled", async () => {
  const pool = await fixture.pool({});
  const { streams, open } = createHealthFixture();
  await fixture.enqueue(pool);
  const stream = open(pool);
  const { value } = await stream.next();
  markWritten(value!);
  await stream.return!();
  await streams.idle();
  assert.equal(await isHeld(pool, value!.items[0]!), true);
});

test("a cancelled stream ends its pending read and returns what that leases", async () => {
  const pool = await fixture.pool({});
  const { streams, open } = createHealthFixture();
  await fixture.enqueue(pool);
  const leasing = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  let leased: LeasedItem[] = [];
  const stream = open(pool, {
    async lease(max) {
      leasing.resolve();
      await proceed.promise;
      leased = await leaseFrom(pool, max, new AbortController().signal);
      return leased;
    },
  });
  const reading = assert.rejects(stream.next(), failsWith("CANCELED"));
  await leasing.promise;
  await stream.return!();
  proceed.resolve();
  await reading;
  await streams.idle();
  assert.equal(leased.length, 1);
  assert.equal(await isHeld(pool, leased[0]!), false);
});

test("an ended node ends streams that wait for items, that wait for credit, and that are opened later", async () => {
  const pool = await fixture.pool({});
  const { streams, open } = createHealthFixture();
  for (let n = 0; n < 2; n++) await fixture.enqueue(pool);
  const full = open(pool);
  assert.equal((await full.next()).value!.items.length, 2);
  const ends = [full.next(), open(pool).next()].map((each) => assert.rejects(each, failsWith("UNAVAILABLE")));
  streams.end();
  await Promise.all(ends);
  await assert.rejects(open(pool).next(), failsWith("UNAVAILABLE"));
});

test("a finished item frees credit only under the token of the stream's lease", async () => {
  const pool = await fixture.pool({});
  const { streams, open } = createHealthFixture();
  for (let n = 0; n < 3; n++) await fixture.enqueue(pool);
  const leases: number[] = [];
  const stream = open(pool, {
    lease(max, signal) {
      leases.push(max);
      return leaseFrom(pool, max, signal);
    },
  });
  const [first] = (await stream.next()).value!.items;
  const { queueItemId: id, leaseToken: token } = first!;
  const next = stream.next();
  streams.release([{ report: { id, token: `${token}0` } } as FinishedItem]);
  streams.release([{ report: { id, token } } as FinishedItem]);
  assert.equal((await next).value!.items.length, 1);
  assert.deepEqual(leases, [2, 1]);
  await stream.return!();
  await streams.idle();
});
