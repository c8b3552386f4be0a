import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmissionBackoff } from "./admission-backoff.ts";

const pool = new Set(["one"]);
const both = new Set(["one", "other"]);

test("a failing pool is tried less and less often, and always again after a success", () => {
  const backoff = createAdmissionBackoff();
  const triesIn = (times: number) => {
    let tries = 0;
    for (let n = 0; n < times; n++) {
      if (!backoff.shouldTry(pool)) continue;
      tries++;
      backoff.recordFailure(pool);
    }
    return tries;
  };
  assert.equal(triesIn(1000), 6 + Math.floor((1000 - 130) / 65) + 1);
  while (!backoff.shouldTry(pool));
  backoff.recordSuccess(pool);
  assert.equal(backoff.shouldTry(pool), true);
  assert.equal(backoff.shouldTry(pool), true);
});

test("a failing pool affects only calls that contain it", () => {
  const backoff = createAdmissionBackoff();
  backoff.recordFailure(pool);
  assert.equal(backoff.shouldTry(new Set(["other"])), true);
  assert.equal(backoff.shouldTry(both), false);
});
