import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Failure } from "../../../errors/index.ts";
import { createCheckQueue, type Standing } from "./check-queue.ts";

const limits = { runningMax: 2, suspectsRunningMax: 1, waitingMax: 4, waitingOfKeyMax: 8, waitingInAllMax: 100 };

interface Choice {
  readonly tenantId?: string;
  readonly keyId: string;
  readonly address?: string;
  readonly standing?: Standing | (() => Standing);
  readonly signal?: AbortSignal;
}

/** A queue whose checks end when they are told to, and the order in which they started or were refused. */
function heldQueue(choice: Partial<typeof limits> = {}) {
  const queue = createCheckQueue({ ...limits, ...choice });
  const started: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    /** The names of those that were refused until now. */
    async refused() {
      await nextTurn();
      return refused;
    },
    ask(name: string, { tenantId = "t", keyId, address = "a", standing = "clean", signal }: Choice) {
      const check = () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        return promise;
      };
      const standingNow = typeof standing === "function" ? standing : () => standing;
      queue.run({ tenantId, keyId, address, standing: standingNow, signal }, check).catch((error) => {
        refused.push(error instanceof Failure && error.code === "UNAVAILABLE" ? name : `${name}: ${error}`);
      });
    },
    async end(name: string) {
      ends.get(name)!();
      await nextTurn();
    },
  };
}

test("one check of a key runs at a time, and keys take turns", async () => {
  const { ask, end, started } = heldQueue();
  for (const n of [1, 2, 3]) ask(`a${n}`, { keyId: "a" });
  ask("b1", { keyId: "b" });
  ask("c1", { keyId: "c" });
  assert.deepEqual(started, ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(started, ["a1", "b1", "a2"]);
  await end("b1");
  assert.deepEqual(started.slice(3), ["c1"]);
  await end("a2");
  assert.deepEqual(started.slice(4), ["a3"]);
});

test("what was right before goes first, then keys without wrong secrets, and suspects never take every place", async () => {
  const { ask, end, started } = heldQueue();
  ask("s1", { keyId: "s", standing: "suspect" });
  ask("t1", { keyId: "t", standing: "suspect" });
  assert.deepEqual(started, ["s1"], "one place stays free of suspects");
  ask("d1", { keyId: "d", standing: "doubtful" });
  ask("e1", { keyId: "e", standing: "doubtful" });
  ask("c1", { keyId: "c" });
  ask("k1", { keyId: "k", standing: "known" });
  assert.deepEqual(started, ["s1", "d1"]);
  await end("d1");
  await end("k1");
  await end("c1");
  assert.deepEqual(started, ["s1", "d1", "k1", "c1", "e1"]);
  await end("s1");
  assert.equal(started.at(-1), "t1");
});

test("checks that were waiting when their key came under suspicion no longer go first", async () => {
  const { ask, end, started } = heldQueue({ runningMax: 1 });
  let suspected = false;
  const standing = () => (suspected ? "suspect" : "clean");
  for (const n of [1, 2, 3]) ask(`a${n}`, { keyId: "a", standing });
  for (const n of [1, 2, 3]) ask(`b${n}`, { keyId: "b", standing });
  suspected = true;
  ask("c1", { keyId: "c", standing: "doubtful" });
  await end("a1");
  assert.deepEqual(started, ["a1", "c1"]);
  await end("c1");
  assert.deepEqual(started.slice(2), ["a2"]);
});

test("addresses take turns within a key, and only so many wait from each", async () => {
  const { ask, end, started, refused } = heldQueue({ runningMax: 1 });
  for (const address of ["x", "y"]) {
    for (const n of [1, 2, 3, 4, 5, 6]) ask(`${address}${n}`, { keyId: "key", standing: "suspect", address });
  }
  assert.deepEqual(await refused(), ["x6", "y5", "y6"], "one runs, and four wait from each address");
  for (const name of ["x1", "x2", "y1"]) await end(name);
  assert.deepEqual(started, ["x1", "x2", "y1", "x3"]);
});

test("when too many wait for a key, the address with the most waiting loses its newest", async () => {
  const { ask, refused } = heldQueue({ runningMax: 1 });
  ask("running", { keyId: "key" });
  for (const address of ["x", "y"]) {
    for (const n of [1, 2, 3, 4]) ask(`${address}${n}`, { keyId: "key", address });
  }
  for (const n of [1, 2, 3, 4]) ask(`z${n}`, { keyId: "key", address: "z" });
  assert.deepEqual(await refused(), ["y4", "x4", "z3", "z4"]);
});

test("what was right before is not refused while guesses at its key wait, also from its own address", async () => {
  const { ask, end, started, refused } = heldQueue({ runningMax: 1 });
  ask("running", { keyId: "key", standing: "suspect" });
  for (const address of ["a", "b"]) {
    for (const n of [1, 2, 3, 4]) ask(`${address}${n}`, { keyId: "key", standing: "suspect", address });
  }
  ask("known", { keyId: "key", standing: "known" });
  assert.deepEqual(await refused(), ["a4"]);
  await end("running");
  assert.equal(started.at(-1), "known");
});

test("tenants take turns, however many keys each has", async () => {
  const { ask, end, started } = heldQueue({ runningMax: 1 });
  ask("running", { tenantId: "large", keyId: "l0" });
  for (const n of [1, 2, 3, 4]) ask(`l${n}`, { tenantId: "large", keyId: `l${n}` });
  for (const n of [1, 2]) ask(`s${n}`, { tenantId: "small", keyId: `s${n}` });
  await end("running");
  for (const name of ["l1", "s1", "l2", "s2", "l3"]) await end(name);
  assert.deepEqual(started, ["running", "l1", "s1", "l2", "s2", "l3", "l4"]);
});

test("when too many wait in all, the tenant with the most waiting loses, and its least urgent check first", async () => {
  const { ask, refused } = heldQueue({ runningMax: 1, waitingInAllMax: 6 });
  ask("running", { tenantId: "other", keyId: "o" });
  for (const n of [1, 2, 3]) ask(`guess${n}`, { tenantId: "large", keyId: "l0", standing: "suspect" });
  for (const n of [1, 2, 3]) ask(`l${n}`, { tenantId: "large", keyId: `l${n}` });
  ask("l4", { tenantId: "large", keyId: "l4" });
  ask("s1", { tenantId: "small", keyId: "s1" });
  assert.deepEqual(await refused(), ["guess3", "guess2"]);
  ask("guess4", { tenantId: "large", keyId: "l0", standing: "suspect" });
  ask("s2", { tenantId: "small", keyId: "s2" });
  ask("s3", { tenantId: "small", keyId: "s3" });
  ask("s4", { tenantId: "small", keyId: "s4" });
  assert.deepEqual((await refused()).slice(2), ["guess4", "guess1", "l4", "s4"]);
});

test("a check whose caller left does not run, and keeps no place in the queue", async () => {
  const { ask, end, started, refused } = heldQueue({ runningMax: 1 });
  const left = new AbortController();
  ask("running", { keyId: "key" });
  for (const n of [1, 2, 3, 4]) ask(`left${n}`, { keyId: "key", signal: left.signal });
  left.abort(new Error("gone"));
  for (const n of [1, 2, 3, 4]) ask(`here${n}`, { keyId: "key" });
  ask("late", { keyId: "other", signal: left.signal });
  const gone = ["left1", "left2", "left3", "left4", "late"].map((name) => `${name}: Error: gone`);
  assert.deepEqual(await refused(), gone);
  await end("running");
  assert.deepEqual(started, ["running", "here1"]);
});

test("choosing the next check asks about few of those that wait", async () => {
  const { ask, end } = heldQueue({ runningMax: 1, waitingInAllMax: 10_000 });
  let questions = 0;
  const standing = () => {
    questions++;
    return "clean" as const;
  };
  ask("running", { keyId: "k" });
  for (let n = 0; n < 5000; n++) ask(`n${n}`, { tenantId: `t${n % 50}`, keyId: `k${n}`, standing });
  questions = 0;
  await end("running");
  assert.ok(questions < 10, `${questions} questions`);
});

test("a check that fails frees its place", async () => {
  const queue = createCheckQueue({ ...limits, runningMax: 1 });
  const whom = { tenantId: "t", keyId: "k", address: "a", standing: () => "clean" as const };
  const broken = queue.run(whom, () => Promise.reject(new Error("broken")));
  const next = queue.run(whom, async () => "checked");
  await assert.rejects(broken, /broken/);
  assert.equal(await next, "checked");
});
