import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Failure } from "../../../errors/index.ts";
import { type CheckPriority, createCheckQueue } from "./check-queue.ts";

const limits = {
  runningMax: 2,
  suspectsRunningMax: 1,
  waitingPerAddressMax: 4,
  waitingPerKeyMax: 8,
  waitingTotalMax: 100,
};

interface Choice {
  readonly tenantId?: string;
  readonly keyId: string;
  readonly address?: string;
  readonly priority?: CheckPriority | (() => CheckPriority);
  readonly signal?: AbortSignal;
}

/** Creates a queue whose checks end on request, and records the order in which checks started or were rejected. */
function createHeldQueue(choice: Partial<typeof limits> = {}) {
  const queue = createCheckQueue({ ...limits, ...choice });
  const started: string[] = [];
  const rejected: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    /** The names of the checks rejected so far. */
    async rejected() {
      await nextTurn();
      return rejected;
    },
    enqueue(name: string, { tenantId = "t", keyId, address = "a", priority = "clean", signal }: Choice) {
      const check = () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        return promise;
      };
      const currentPriority = typeof priority === "function" ? priority : () => priority;
      queue.run({ tenantId, keyId, address, priority: currentPriority, signal }, check).catch((error) => {
        rejected.push(error instanceof Failure && error.code === "UNAVAILABLE" ? name : `${name}: ${error}`);
      });
    },
    async end(name: string) {
      ends.get(name)!();
      await nextTurn();
    },
  };
}

test("one check of a key runs at a time, and keys are scheduled round-robin", async () => {
  const { enqueue, end, started } = createHeldQueue();
  for (const n of [1, 2, 3]) enqueue(`a${n}`, { keyId: "a" });
  enqueue("b1", { keyId: "b" });
  enqueue("c1", { keyId: "c" });
  assert.deepEqual(started, ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(started, ["a1", "b1", "a2"]);
  await end("b1");
  assert.deepEqual(started.slice(3), ["c1"]);
  await end("a2");
  assert.deepEqual(started.slice(4), ["a3"]);
});

test("known secrets run first, then keys without failures, and suspects never occupy every slot", async () => {
  const { enqueue, end, started } = createHeldQueue();
  enqueue("s1", { keyId: "s", priority: "suspect" });
  enqueue("t1", { keyId: "t", priority: "suspect" });
  assert.deepEqual(started, ["s1"], "one slot is reserved for checks that are not suspect");
  enqueue("d1", { keyId: "d", priority: "doubtful" });
  enqueue("e1", { keyId: "e", priority: "doubtful" });
  enqueue("c1", { keyId: "c" });
  enqueue("k1", { keyId: "k", priority: "known" });
  assert.deepEqual(started, ["s1", "d1"]);
  await end("d1");
  await end("k1");
  await end("c1");
  assert.deepEqual(started, ["s1", "d1", "k1", "c1", "e1"]);
  await end("s1");
  assert.equal(started.at(-1), "t1");
});

test("waiting checks lose their priority when their key becomes suspect", async () => {
  const { enqueue, end, started } = createHeldQueue({ runningMax: 1 });
  let suspected = false;
  const priority = () => (suspected ? "suspect" : "clean");
  for (const n of [1, 2, 3]) enqueue(`a${n}`, { keyId: "a", priority });
  for (const n of [1, 2, 3]) enqueue(`b${n}`, { keyId: "b", priority });
  suspected = true;
  enqueue("c1", { keyId: "c", priority: "doubtful" });
  await end("a1");
  assert.deepEqual(started, ["a1", "c1"]);
  await end("c1");
  assert.deepEqual(started.slice(2), ["a2"]);
});

test("addresses of a key are scheduled round-robin, and the number of waiting checks per address is limited", async () => {
  const { enqueue, end, started, rejected } = createHeldQueue({ runningMax: 1 });
  for (const address of ["x", "y"]) {
    for (const n of [1, 2, 3, 4, 5, 6]) enqueue(`${address}${n}`, { keyId: "key", priority: "suspect", address });
  }
  assert.deepEqual(await rejected(), ["x6", "y5", "y6"], "one runs, and four of each address wait");
  for (const name of ["x1", "x2", "y1"]) await end(name);
  assert.deepEqual(started, ["x1", "x2", "y1", "x3"]);
});

test("when too many checks of a key wait, the newest of the address with the most is rejected", async () => {
  const { enqueue, rejected } = createHeldQueue({ runningMax: 1 });
  enqueue("running", { keyId: "key" });
  for (const address of ["x", "y"]) {
    for (const n of [1, 2, 3, 4]) enqueue(`${address}${n}`, { keyId: "key", address });
  }
  for (const n of [1, 2, 3, 4]) enqueue(`z${n}`, { keyId: "key", address: "z" });
  assert.deepEqual(await rejected(), ["y4", "x4", "z3", "z4"]);
});

test("a known secret is not rejected while guesses of its key wait, even from the same address", async () => {
  const { enqueue, end, started, rejected } = createHeldQueue({ runningMax: 1 });
  enqueue("running", { keyId: "key", priority: "suspect" });
  for (const address of ["a", "b"]) {
    for (const n of [1, 2, 3, 4]) enqueue(`${address}${n}`, { keyId: "key", priority: "suspect", address });
  }
  enqueue("known", { keyId: "key", priority: "known" });
  assert.deepEqual(await rejected(), ["a4"]);
  await end("running");
  assert.equal(started.at(-1), "known");
});

test("tenants are scheduled round-robin, regardless of their number of keys", async () => {
  const { enqueue, end, started } = createHeldQueue({ runningMax: 1 });
  enqueue("running", { tenantId: "large", keyId: "l0" });
  for (const n of [1, 2, 3, 4]) enqueue(`l${n}`, { tenantId: "large", keyId: `l${n}` });
  for (const n of [1, 2]) enqueue(`s${n}`, { tenantId: "small", keyId: `s${n}` });
  await end("running");
  for (const name of ["l1", "s1", "l2", "s2", "l3"]) await end(name);
  assert.deepEqual(started, ["running", "l1", "s1", "l2", "s2", "l3", "l4"]);
});

test("when too many checks wait in total, the least urgent of the tenant with the most is rejected", async () => {
  const { enqueue, rejected } = createHeldQueue({ runningMax: 1, waitingTotalMax: 6 });
  enqueue("running", { tenantId: "other", keyId: "o" });
  for (const n of [1, 2, 3]) enqueue(`guess${n}`, { tenantId: "large", keyId: "l0", priority: "suspect" });
  for (const n of [1, 2, 3]) enqueue(`l${n}`, { tenantId: "large", keyId: `l${n}` });
  enqueue("l4", { tenantId: "large", keyId: "l4" });
  enqueue("s1", { tenantId: "small", keyId: "s1" });
  assert.deepEqual(await rejected(), ["guess3", "guess2"]);
  enqueue("guess4", { tenantId: "large", keyId: "l0", priority: "suspect" });
  enqueue("s2", { tenantId: "small", keyId: "s2" });
  enqueue("s3", { tenantId: "small", keyId: "s3" });
  enqueue("s4", { tenantId: "small", keyId: "s4" });
  assert.deepEqual((await rejected()).slice(2), ["guess4", "guess1", "l4", "s4"]);
});

test("a check whose caller disconnected does not run and leaves the queue", async () => {
  const { enqueue, end, started, rejected } = createHeldQueue({ runningMax: 1 });
  const left = new AbortController();
  enqueue("running", { keyId: "key" });
  for (const n of [1, 2, 3, 4]) enqueue(`left${n}`, { keyId: "key", signal: left.signal });
  left.abort(new Error("gone"));
  for (const n of [1, 2, 3, 4]) enqueue(`here${n}`, { keyId: "key" });
  enqueue("late", { keyId: "other", signal: left.signal });
  const gone = ["left1", "left2", "left3", "left4", "late"].map((name) => `${name}: Error: gone`);
  assert.deepEqual(await rejected(), gone);
  await end("running");
  assert.deepEqual(started, ["running", "here1"]);
});

test("choosing the next check evaluates the priority of only a few waiting checks", async () => {
  const { enqueue, end } = createHeldQueue({ runningMax: 1, waitingTotalMax: 10_000 });
  let calls = 0;
  const priority = () => {
    calls++;
    return "clean" as const;
  };
  enqueue("running", { keyId: "k" });
  for (let n = 0; n < 5000; n++) enqueue(`n${n}`, { tenantId: `t${n % 50}`, keyId: `k${n}`, priority });
  calls = 0;
  await end("running");
  assert.ok(calls < 10, `${calls} calls`);
});

test("a failed check frees its slot", async () => {
  const queue = createCheckQueue({ ...limits, runningMax: 1 });
  const subject = { tenantId: "t", keyId: "k", address: "a", priority: () => "clean" as const };
  const broken = queue.run(subject, () => Promise.reject(new Error("broken")));
  const next = queue.run(subject, async () => "checked");
  await assert.rejects(broken, /broken/);
  assert.equal(await next, "checked");
});
