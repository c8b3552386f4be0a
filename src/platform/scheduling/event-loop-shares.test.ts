import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventLoopShares, sliceMs, type Turns } from "./event-loop-shares.ts";

/** Shares by a clock that only the test moves. */
function shareOut() {
  let ms = 0;
  const log: string[] = [];
  const rests: number[] = [];
  const shares = createEventLoopShares({
    nowMs: () => ms,
    delay(action, waitMs) {
      ms += waitMs;
      rests.push(waitMs);
      setImmediate(action);
    },
  });
  /** Work of so many slices, each of which takes all of its time. */
  async function task(name: string, turns: Turns, slices: number): Promise<void> {
    for (let done = 0; done < slices; done++) {
      if (turns.isOver()) await turns.next();
      log.push(name);
      ms += sliceMs;
    }
  }
  return { shares, log, rests, task };
}

test("tenants take turns, however many tasks each has", async () => {
  const { shares, log, task } = shareOut();
  const tasks = [1, 2, 3].map(() => task("greedy", shares.forBackground("greedy"), 4));
  tasks.push(task("modest", shares.forBackground("modest"), 3));
  await Promise.all(tasks);
  assert.equal(log.length, 15);
  // After its first turn the modest tenant has every second one.
  assert.ok(log.lastIndexOf("modest") <= 6, log.join(" "));
});

test("tasks of one tenant take turns, too", async () => {
  const { shares, log, task } = shareOut();
  await Promise.all([task("a", shares.forBackground("t"), 3), task("b", shares.forBackground("t"), 3)]);
  assert.deepEqual(log, ["a", "b", "a", "b", "a", "b"]);
});

test("a call begins at once, unless calls of its tenant wait for their next slice", async () => {
  const { shares, log, task } = shareOut();
  const first = task("first", shares.forCall("t"), 2);
  assert.deepEqual(log, ["first"]);
  const second = task("second", shares.forCall("t"), 1);
  assert.deepEqual(log, ["first"]);
  const other = task("other", shares.forCall("u"), 1);
  assert.deepEqual(log, ["first", "other"]);
  await Promise.all([first, second, other]);
  assert.deepEqual(log, ["first", "other", "first", "second"]);
});

test("background work of a tenant does not hold up the first slice of its calls", async () => {
  const { shares, log, task } = shareOut();
  const background = task("background", shares.forBackground("t"), 2);
  const call = task("call", shares.forCall("t"), 1);
  assert.deepEqual(log, ["call"]);
  await Promise.all([background, call]);
});

test("calls and background work take turns, so that neither waits for the end of the other", async () => {
  const { shares, log, task } = shareOut();
  const background = [1, 2].map((n) => task("background", shares.forBackground(`b${n}`), 3));
  const calls = [1, 2].map((n) => task("call", shares.forCall(`c${n}`), 4));
  await Promise.all([...background, ...calls]);
  const sliced = log.slice(2);
  assert.equal(sliced.length, 12);
  for (let at = 0; at < sliced.length; at += 2) assert.notEqual(sliced[at], sliced[at + 1], sliced.join(" "));
});

test("after a slice the loop is free for as long as the slice took, in the background for three times as long", async () => {
  const background = shareOut();
  await background.task("task", background.shares.forBackground("t"), 4);
  assert.deepEqual(background.rests, [3 * sliceMs, 3 * sliceMs, 3 * sliceMs]);
  const calls = shareOut();
  await calls.task("task", calls.shares.forCall("t"), 4);
  assert.deepEqual(calls.rests, [sliceMs, sliceMs]);
});
