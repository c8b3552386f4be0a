import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createCheckQueue, type Standing } from "./check-queue.ts";

/** A queue whose checks end when they are told to, and the order in which they started. */
function heldQueue(runningMax = 2) {
  const queue = createCheckQueue({ runningMax, suspectsRunningMax: 1, waitingMax: 4, waitingOfKeyMax: 8 });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    ask(name: string, keyId: string, standing: Standing | (() => Standing), address = "a") {
      const check = () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        return promise;
      };
      const asked = typeof standing === "function" ? standing : () => standing;
      return queue.run({ keyId, address, standing: asked }, check) !== undefined;
    },
    async end(name: string) {
      ends.get(name)!();
      await nextTurn();
    },
  };
}

test("one check of a key runs at a time, and keys take turns", async () => {
  const { ask, end, started } = heldQueue();
  for (const n of [1, 2, 3]) ask(`a${n}`, "a", "clean");
  ask("b1", "b", "clean");
  ask("c1", "c", "clean");
  assert.deepEqual(started, ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(started, ["a1", "b1", "a2"]);
  await end("b1");
  assert.deepEqual(started.slice(3), ["c1"]);
  await end("a2");
  assert.deepEqual(started.slice(4), ["a3"]);
});

test("what was right before goes first, then keys without wrong secrets, and suspects never take every place", async () => {
  const { ask, end, started } = heldQueue(2);
  ask("s1", "s", "suspect");
  ask("t1", "t", "suspect");
  assert.deepEqual(started, ["s1"], "one place stays free of suspects");
  ask("d1", "d", "doubtful");
  ask("e1", "e", "doubtful");
  ask("c1", "c", "clean");
  ask("k1", "k", "known");
  assert.deepEqual(started, ["s1", "d1"]);
  await end("d1");
  await end("k1");
  await end("c1");
  assert.deepEqual(started, ["s1", "d1", "k1", "c1", "e1"]);
  await end("s1");
  assert.equal(started.at(-1), "t1");
});

test("checks that were waiting when their key came under suspicion no longer go first", async () => {
  const { ask, end, started } = heldQueue(1);
  let suspected = false;
  const standing = () => (suspected ? "suspect" : "clean");
  for (const n of [1, 2, 3]) ask(`a${n}`, "a", standing);
  for (const n of [1, 2, 3]) ask(`b${n}`, "b", standing);
  suspected = true;
  ask("c1", "c", "doubtful");
  await end("a1");
  assert.deepEqual(started, ["a1", "c1"]);
  await end("c1");
  assert.deepEqual(started.slice(2), ["a2"]);
});

test("addresses take turns within a key, and only so many wait from each and in all", async () => {
  const { ask, end, started } = heldQueue(1);
  const taken = (address: string) => [1, 2, 3, 4, 5, 6].map((n) => ask(`${address}${n}`, "key", "suspect", address));
  assert.deepEqual(taken("x"), [true, true, true, true, true, false], "one runs and four wait");
  assert.deepEqual(taken("y"), [true, true, true, true, false, false]);
  assert.deepEqual(taken("z"), [false, false, false, false, false, false], "eight wait for the key");
  for (const name of ["x1", "x2", "y1"]) await end(name);
  assert.deepEqual(started, ["x1", "x2", "y1", "x3"]);
});

test("a check that fails frees its place", async () => {
  const queue = createCheckQueue({ runningMax: 1, suspectsRunningMax: 1, waitingMax: 4, waitingOfKeyMax: 8 });
  const whom = { keyId: "k", address: "a", standing: () => "clean" as const };
  const broken = queue.run(whom, () => Promise.reject(new Error("broken")));
  const next = queue.run(whom, async () => "checked");
  await assert.rejects(broken!, /broken/);
  assert.equal(await next, "checked");
});
