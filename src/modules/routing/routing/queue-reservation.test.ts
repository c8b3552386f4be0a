import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith, freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import { createQueueReservations } from "./queue-reservation.ts";

const db = await testDatabase();

/** Reservations of a queue with a maximum depth, and the number of depth reads. */
function queueOf(maxDepth: number) {
  const depth = { reads: 0 };
  const clock = { nowMs: 1000 };
  const sql = new Proxy(db.sql, {
    apply(target, self, args) {
      const result = Reflect.apply(target as never, self, args) as Promise<unknown>;
      result.then(() => depth.reads++);
      return result;
    },
  });
  const pool = { id: "pool", tenantId: freshTenant(), name: "leads", config: { queue: { maxDepth } } };
  const reservePlace = createQueueReservations(sql, () => clock.nowMs);
  return { reserve: async () => reservePlace({ pool } as unknown as PoolSnapshot), depth, clock };
}
const full = failsWith("ROUTING_FAILED", /is full: 5 items wait/);

test("reserved places count before their commit, also after the depth is read again", async () => {
  const { reserve, depth, clock } = queueOf(5);
  for (let n = 0; n < 4; n++) await reserve();
  clock.nowMs += 501;
  await reserve();
  await until(() => depth.reads === 2);
  await assert.rejects(reserve(), full);
});

test("a released place can be reserved again, and a committed one cannot", async () => {
  const { reserve } = queueOf(5);
  const places = [];
  for (let n = 0; n < 5; n++) places.push(await reserve());
  places[0]!.commit();
  await assert.rejects(reserve(), full);
  places[1]!.release();
  await reserve();
  await assert.rejects(reserve(), full);
});

test("a node whose clock is set back reads the depth again", async (t) => {
  const pool = { id: "pool", tenantId: freshTenant(), name: "leads", config: { queue: { maxDepth: 5 } } };
  const reservePlace = createQueueReservations(db.sql);
  const reserve = async () => reservePlace({ pool } as unknown as PoolSnapshot);
  for (let n = 0; n < 5; n++) (await reserve()).commit();
  await assert.rejects(reserve(), full);
  const systemMs = Date.now;
  t.mock.method(Date, "now", () => systemMs() - 3_600_000);
  // Workers have completed all items meanwhile.
  await until(() =>
    reserve().then(
      () => true,
      () => false,
    ),
  );
});
