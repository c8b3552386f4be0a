import assert from "node:assert/strict";
import { test } from "node:test";
import { createSerialTask } from "./serial-task.ts";

test("any number of requests during a run cause exactly one more run", async () => {
  const ends: (() => void)[] = [];
  const task = createSerialTask(
    () => new Promise((resolve) => ends.push(resolve)),
    () => assert.fail(),
  );
  task.start();
  for (let n = 0; n < 5; n++) task.run();
  assert.equal(ends.length, 1);
  ends[0]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  ends[1]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
});

test("a task does not run before start or after stop, stop waits for the current run, and failures do not end the task", async () => {
  const errors: unknown[] = [];
  let done = 0;
  const task = createSerialTask(
    async () => {
      await new Promise(setImmediate);
      done++;
      throw new Error("as told");
    },
    (error) => errors.push(error),
  );
  task.run();
  await task.stop();
  assert.equal(done, 0);
  task.start();
  await task.stop();
  task.run();
  assert.deepEqual([done, errors.length], [1, 1]);
});
