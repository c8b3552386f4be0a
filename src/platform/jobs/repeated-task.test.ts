import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { createRepeatedTask } from "./repeated-task.ts";

type Options = Partial<Parameters<typeof createRepeatedTask>[0]>;

function counted(waits: readonly (number | Error)[], options: Options = {}) {
  const runs = new EventEmitter();
  let count = 0;
  const errors: unknown[] = [];
  const task = createRepeatedTask({
    maxWaitMs: 60_000,
    onError: (error) => errors.push(error),
    async work() {
      const wait = waits[count++] ?? 60_000;
      setImmediate(() => runs.emit(String(count)));
      if (wait instanceof Error) throw wait;
      return wait;
    },
    ...options,
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
  const { task, errors, nth } = counted([error, 60_000], { maxWaitMs: 1 });
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

test("a time that has passed runs the task at once, without a warning of the process", async (t) => {
  const { mock } = t.mock.method(process, "emitWarning");
  const { task, nth } = counted([60_000]);
  await task.start();
  task.runWithin(-Date.now());
  await nth(2);
  await task.stop();
  assert.equal(mock.callCount(), 0);
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

test("start resolves after the first run, and a second start does nothing", async () => {
  const { task, count } = counted([60_000]);
  await task.start();
  assert.equal(count(), 1);
  await task.start();
  await task.stop();
  assert.equal(count(), 1);
});

test("the task runs when its subscription says so, until it is stopped", async () => {
  const wakes = new EventEmitter();
  const subscribe: Options["subscribe"] = ({ run }) => {
    wakes.on("wake", run);
    return [() => wakes.off("wake", run)];
  };
  const { task, nth } = counted([], { subscribe });
  await task.start();
  wakes.emit("wake");
  await nth(2);
  await task.stop();
  assert.equal(wakes.listenerCount("wake"), 0);
});

test("work that stores what is in memory is done a last time when the task stops", async () => {
  const error = new Error("no connection");
  const { task, count, errors } = counted([60_000, error], { runsAtStop: true });
  await task.start();
  await task.stop();
  assert.deepEqual([count(), errors], [2, [error]]);
});

test("any number of requests during a run cause exactly one more run", async () => {
  const ends: (() => void)[] = [];
  const task = createRepeatedTask({
    work: () => new Promise<void>((resolve) => ends.push(resolve)),
    onError: () => assert.fail(),
  });
  void task.start();
  for (let n = 0; n < 5; n++) task.run();
  assert.equal(ends.length, 1);
  ends[0]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  ends[1]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  await task.stop();
});

test("a task does not run before start or after stop, stop waits for the current run, and failures do not end the task", async () => {
  const errors: unknown[] = [];
  let done = 0;
  const task = createRepeatedTask({
    async work() {
      await new Promise(setImmediate);
      done++;
      throw new Error("as told");
    },
    onError: (error) => errors.push(error),
  });
  task.run();
  await task.stop();
  assert.equal(done, 0);
  void task.start();
  await task.stop();
  task.run();
  assert.deepEqual([done, errors.length], [1, 1]);
});
