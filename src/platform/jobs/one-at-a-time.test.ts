import assert from "node:assert/strict";
import { test } from "node:test";
import { oneAtATime } from "./one-at-a-time.ts";

test("what is asked for while it is done is done once more, however often it was asked for", async () => {
  const ends: (() => void)[] = [];
  const turns = oneAtATime(
    () => new Promise((resolve) => ends.push(resolve)),
    () => assert.fail(),
  );
  turns.start();
  for (let n = 0; n < 5; n++) turns.run();
  assert.equal(ends.length, 1);
  ends[0]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  ends[1]!();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
});

test("nothing is done before the start or after the stop, which waits for what is under way; failures end nothing", async () => {
  const errors: unknown[] = [];
  let done = 0;
  const turns = oneAtATime(
    async () => {
      await new Promise(setImmediate);
      done++;
      throw new Error("as told");
    },
    (error) => errors.push(error),
  );
  turns.run();
  await turns.stop();
  assert.equal(done, 0);
  turns.start();
  await turns.stop();
  turns.run();
  assert.deepEqual([done, errors.length], [1, 1]);
});
