import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith, freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/embedded-owner.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import { createQueueRoom } from "./queue-reservation.ts";

const db = await testDatabase();

/** The room of a queue that takes so many items, and how often its depth was read. */
function queueOf(maxDepth: number) {
  const asked = { reads: 0 };
  const clock = { nowMs: 1000 };
  const sql = new Proxy(db.sql, {
    apply(target, self, args) {
      const result = Reflect.apply(target as never, self, args) as Promise<unknown>;
      result.then(() => asked.reads++);
      return result;
    },
  });
  const pool = { id: "pool", tenantId: freshTenant(), name: "leads", config: { queue: { maxDepth } } };
  const reservePlace = createQueueRoom(sql, { now: () => clock.nowMs });
  return { reserve: async () => reservePlace({ pool } as unknown as PoolSnapshot), asked, clock };
}
const full = failsWith("ROUTING_FAILED", /is full: 5 items wait/);

test("places that are reserved and not committed count, also when the depth is read again meanwhile", async () => {
  const { reserve, asked, clock } = queueOf(5);
  for (let n = 0; n < 4; n++) await reserve();
  clock.nowMs += 501;
  await reserve();
  await until(() => asked.reads === 2);
  await assert.rejects(reserve(), full);
});

test("a place that is released can be reserved again, and one that is kept cannot", async () => {
  const { reserve } = queueOf(5);
  const places = [];
  for (let n = 0; n < 5; n++) places.push(await reserve());
  places[0]!.keep();
  await assert.rejects(reserve(), full);
  places[1]!.release();
  await reserve();
  await assert.rejects(reserve(), full);
});
