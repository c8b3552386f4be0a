import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventLoopScheduler, sliceMs, type TimeSlices } from "./event-loop-scheduler.ts";

/** Event loop shares on a manual clock. */
function createShares() {
  let ms = 0;
  const log: string[] = [];
  const rests: number[] = [];
  /** Other work for each turn of the loop. */
  let otherWork: NodeJS.Immediate | undefined;
  const shares = createEventLoopScheduler({
    nowMs: () => ms,
    delay(action, waitMs) {
      ms += waitMs;
      rests.push(waitMs);
      setImmediate(action);
    },
  });
  /** Runs work of a number of slices, each of which uses its full length. */
  async function task(name: string, timeSlices: TimeSlices, slices: number): Promise<void> {
    for (let done = 0; done < slices; done++) {
      if (timeSlices.isOver()) await timeSlices.next();
      log.push(name);
      ms += sliceMs;
    }
  }
  function beBusy(): void {
    ms += 0.2;
    otherWork = setImmediate(beBusy);
  }
  return { shares, log, rests, task, beBusy, beIdle: () => clearImmediate(otherWork) };
}

test("tenants are served round-robin, regardless of how many tasks each has", async () => {
  const { shares, log, task } = createShares();
  const tasks = [1, 2, 3].map(() => task("greedy", shares.forBackground("greedy"), 4));
  tasks.push(task("modest", shares.forBackground("modest"), 3));
  await Promise.all(tasks);
  assert.equal(log.length, 15);
  // After its first slice the modest tenant gets every second one.
  assert.ok(log.lastIndexOf("modest") <= 6, log.join(" "));
});

test("tasks of one tenant are served round-robin", async () => {
  const { shares, log, task } = createShares();
  await Promise.all([task("a", shares.forBackground("t"), 3), task("b", shares.forBackground("t"), 3)]);
  assert.deepEqual(log, ["a", "b", "a", "b", "a", "b"]);
});

test("a call starts immediately, unless other calls of its tenant are queued", async () => {
  const { shares, log, task } = createShares();
  const first = task("first", shares.forCall("t"), 2);
  assert.deepEqual(log, ["first"]);
  const second = task("second", shares.forCall("t"), 1);
  assert.deepEqual(log, ["first"]);
  const other = task("other", shares.forCall("u"), 1);
  assert.deepEqual(log, ["first", "other"]);
  await Promise.all([first, second, other]);
  assert.deepEqual(log, ["first", "other", "first", "second"]);
});

test("background work of a tenant does not delay the first slice of its calls", async () => {
  const { shares, log, task } = createShares();
  const background = task("background", shares.forBackground("t"), 2);
  const call = task("call", shares.forCall("t"), 1);
  assert.deepEqual(log, ["call"]);
  await Promise.all([background, call]);
});

test("calls and background work alternate, so that neither waits for the other to finish", async () => {
  const { shares, log, task } = createShares();
  const background = [1, 2].map((n) => task("background", shares.forBackground(`b${n}`), 3));
  const calls = [1, 2].map((n) => task("call", shares.forCall(`c${n}`), 4));
  await Promise.all([...background, ...calls]);
  const sliced = log.slice(2);
  assert.equal(sliced.length, 12);
  for (let at = 0; at < sliced.length; at += 2) assert.notEqual(sliced[at], sliced[at + 1], sliced.join(" "));
});

test("after a slice a busy loop rests for the slice's length, and after a background slice for three times as long", async () => {
  const restsOf = async (kind: "forBackground" | "forCall") => {
    const { shares, rests, task, beBusy, beIdle } = createShares();
    beBusy();
    await task("task", shares[kind]("t"), 5);
    beIdle();
    return rests.map(Math.round);
  };
  const background = 3 * sliceMs;
  assert.deepEqual(await restsOf("forBackground"), [background, background, background, background]);
  assert.deepEqual(await restsOf("forCall"), [sliceMs, sliceMs, sliceMs]);
});

test("a loop without other work does not rest", async () => {
  const { shares, rests, task } = createShares();
  await task("background", shares.forBackground("t"), 4);
  await task("call", shares.forCall("t"), 4);
  assert.deepEqual(rests, []);
});
