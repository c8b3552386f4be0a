import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { createRepeatedTask } from "./repeated-task.ts";

function counted(waits: readonly (number | Error)[], maxWaitMs = 60_000) {
  const runs = new EventEmitter();
  let count = 0;
  const errors: unknown[] = [];
  const task = createRepeatedTask({
    maxWaitMs,
    onError: (error) => errors.push(error),
    async work() {
      const wait = waits[count++] ?? 60_000;
      setImmediate(() => runs.emit(String(count)));
      if (wait instanceof Error) throw wait;
      return wait;
    },
  });
  return { task, errors, count: () => count, nth: (n: number) => once(runs, String(n)) };
}

test("the task runs again after the time that each run returns", async () => {
  const { task, count, nth } = counted([0, 1]);
  task.start();
  await nth(3);
  await task.stop();
  assert.equal(count(), 3);
});

test("after an error the task runs again within the longest wait", async () => {
  const error = new Error("no connection");
  const { task, errors, nth } = counted([error, 60_000], 1);
  task.start();
  await nth(2);
  await task.stop();
  assert.deepEqual(errors, [error]);
});

test("runWithin brings the next run forward and never delays it", async () => {
  const { task, nth } = counted([60_000, 60_000]);
  task.start();
  await nth(1);
  task.runWithin(1);
  task.runWithin(50_000);
  await nth(2);
  await task.stop();
});

test("a request during a run is not lost", async () => {
  const { task, nth } = counted([]);
  task.start();
  task.runWithin(1);
  await nth(2);
  await task.stop();
});

test("a stopped task does not run", async () => {
  const { task, count, nth } = counted([60_000]);
  task.start();
  await nth(1);
  await task.stop();
  task.runWithin(0);
  task.run();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(count(), 1);
});
