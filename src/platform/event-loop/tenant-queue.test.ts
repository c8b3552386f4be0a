import assert from "node:assert/strict";
import { test } from "node:test";
import { createTenantQueue } from "./tenant-queue.ts";

test("a stopping queue does not start work that is added again by the running work", async () => {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const queue = createTenantQueue<number>({
    concurrency: 1,
    merge: (one) => one,
    async work(tenantId, name, payload) {
      begun.resolve();
      await held.promise;
      done.push(`${name}${payload}`);
      queue.add(tenantId, name, payload + 1);
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
