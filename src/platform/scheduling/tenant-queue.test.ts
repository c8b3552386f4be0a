import assert from "node:assert/strict";
import { test } from "node:test";
import { createTenantQueue } from "./tenant-queue.ts";

test("once a queue stops, work that adds itself again is not begun any more", async () => {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const queue = createTenantQueue<number>({
    lanes: 1,
    merge: (one) => one,
    async work(tenantId, name, note) {
      begun.resolve();
      await held.promise;
      done.push(`${name}${note}`);
      queue.add(tenantId, name, note + 1);
    },
    onError: assert.ifError,
  });
  queue.add("t", "pool", 1);
  await begun.promise;
  const stopped = queue.stop();
  held.resolve();
  await stopped;
  await new Promise(setImmediate);
  assert.deepEqual(done, ["pool1"]);
});
