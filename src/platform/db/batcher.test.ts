import assert from "node:assert/strict";
import { test } from "node:test";
import { createBatcher } from "./batcher.ts";

/** Statements that the test completes one by one. */
function heldStatements<In, Out>() {
  const held: { inputs: In[]; resolve(outputs: Out[]): void; reject(error: unknown): void }[] = [];
  const flush = (inputs: In[]) =>
    new Promise<Out[]>((resolve, reject) => {
      held.push({ inputs, resolve, reject });
    });
  return { held, flush };
}

const turn = () => new Promise(setImmediate);
const dataError = Object.assign(new Error("bad row"), { code: "22P02" });
const lostConnection = Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" });

test("a single request is sent immediately, and requests that arrive meanwhile share the next statement in order", async () => {
  const { held, flush } = heldStatements<number, string>();
  const batcher = createBatcher({ flush });
  const answers = [batcher.run(1)];
  await turn();
  answers.push(batcher.run(2), batcher.run(3), batcher.run(4));
  await turn();
  assert.deepEqual(
    held.map((each) => each.inputs),
    [[1]],
  );
  held[0]!.resolve(["one"]);
  await turn();
  await turn();
  assert.deepEqual(
    held.map((each) => each.inputs),
    [[1], [2, 3, 4]],
  );
  held[1]!.resolve(["two", "three", "four"]);
  assert.deepEqual(await Promise.all(answers), ["one", "two", "three", "four"]);
});

test("no request resolves before its own statement has completed", async () => {
  const { held, flush } = heldStatements<number, string>();
  const batcher = createBatcher({ flush });
  let answered = false;
  const first = batcher.run(1);
  await turn();
  const second = batcher.run(2).finally(() => {
    answered = true;
  });
  held[0]!.resolve(["one"]);
  await first;
  await turn();
  await turn();
  assert.equal(answered, false);
  held[1]!.resolve(["two"]);
  assert.equal(await second, "two");
});

test("the number of concurrent statements and the size of each are bounded", async () => {
  const { held, flush } = heldStatements<number, number>();
  const batcher = createBatcher({ flush, lanes: 2, batchMax: 3 });
  const answers = Array.from({ length: 10 }, (_, i) => batcher.run(i));
  for (let ended = 0; ended < 4; ended++) {
    await turn();
    await turn();
    assert.ok(held.length - ended <= 2);
    held[ended]!.resolve(held[ended]!.inputs);
  }
  assert.deepEqual(await Promise.all(answers), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(
    held.map((each) => each.inputs),
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
  );
});

test("a statement is filled up to its maximum weight, and a heavier request gets its own statement", async () => {
  const { held, flush } = heldStatements<number, number>();
  const batcher = createBatcher({ flush, batchMax: 10, weigh: (size: number) => size });
  const answers = [4, 6, 1, 25, 3].map((size) => batcher.run(size));
  for (let ended = 0; ended < 4; ended++) {
    await turn();
    await turn();
    held[ended]!.resolve(held[ended]!.inputs);
  }
  assert.deepEqual(await Promise.all(answers), [4, 6, 1, 25, 3]);
  assert.deepEqual(
    held.map((each) => each.inputs),
    [[4, 6], [1], [25], [3]],
  );
});

test("a concurrent statement starts only when enough requests wait; fewer wait for the running one", async () => {
  const { held, flush } = heldStatements<number, number>();
  const batcher = createBatcher({ flush, lanes: 2, concurrentMin: 3 });
  const answers = [batcher.run(1)];
  await turn();
  answers.push(batcher.run(2), batcher.run(3));
  await turn();
  assert.equal(held.length, 1);
  answers.push(batcher.run(4));
  await turn();
  assert.deepEqual(held[1]!.inputs, [2, 3, 4]);
  answers.push(batcher.run(5));
  held[0]!.resolve([1]);
  held[1]!.resolve([2, 3, 4]);
  await turn();
  await turn();
  held[2]!.resolve([5]);
  assert.deepEqual(await Promise.all(answers), [1, 2, 3, 4, 5]);
});

test("a row that the database rejects fails alone, at any position and in any number", async () => {
  for (const bad of [[0], [15], [7], [0, 15], [3, 4, 5], [...Array(16).keys()]]) {
    const written: number[] = [];
    const batcher = createBatcher<number, number>({
      async flush(inputs) {
        if (inputs.some((input) => bad.includes(input))) throw dataError;
        written.push(...inputs);
        return inputs;
      },
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 16 }, (_, i) => batcher.run(i)));
    for (const [i, outcome] of outcomes.entries()) {
      const expected = bad.includes(i) ? { status: "rejected", reason: dataError } : { status: "fulfilled", value: i };
      assert.deepEqual(outcome, expected);
    }
    // Each once, in order of arrival.
    assert.deepEqual(
      written,
      [...Array(16).keys()].filter((i) => !bad.includes(i)),
    );
  }
});

test("a lost connection fails the whole batch without a retry, and the next batch proceeds", async () => {
  let statements = 0;
  const batcher = createBatcher<number, number>({
    async flush(inputs) {
      if (statements++ === 0) throw lostConnection;
      return inputs;
    },
  });
  const outcomes = await Promise.allSettled([batcher.run(1), batcher.run(2)]);
  assert.deepEqual(outcomes, [
    { status: "rejected", reason: lostConnection },
    { status: "rejected", reason: lostConnection },
  ]);
  assert.equal(statements, 1);
  assert.equal(await batcher.run(3), 3);
});

test("a flush that throws synchronously fails only its own callers", async () => {
  let statements = 0;
  const batcher = createBatcher<number, number>({
    flush(inputs) {
      if (statements++ === 0) throw new TypeError("not even a promise");
      return Promise.resolve(inputs);
    },
  });
  await assert.rejects(batcher.run(1), TypeError);
  assert.equal(await batcher.run(2), 2);
});

test("idle waits for all accepted requests, and resolves immediately when there are none", async () => {
  const { held, flush } = heldStatements<number, number>();
  const batcher = createBatcher({ flush });
  await batcher.idle();
  const answers = [batcher.run(1)];
  let idle = false;
  const waiting = batcher.idle().then(() => {
    idle = true;
  });
  await turn();
  answers.push(batcher.run(2));
  held[0]!.resolve([1]);
  await answers[0];
  await turn();
  await turn();
  assert.equal(idle, false);
  held[1]!.resolve([2]);
  await Promise.all([...answers, waiting]);
});
