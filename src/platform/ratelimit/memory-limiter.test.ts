import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { Failure } from "../../errors/index.ts";
import { createMemoryLimiter } from "./index.ts";

const rate = { rps: 10, burst: 5 };

function limiterAt(startMs: number) {
  let nowMs = startMs;
  return { limiter: createMemoryLimiter({ now: () => nowMs }), pass: (ms: number) => (nowMs += ms) };
}

test("a burst is allowed immediately, and the next call waits for a token", () => {
  const { limiter, pass } = limiterAt(1_700_000_000_000);
  for (let left = 4; left >= 0; left--) {
    assert.deepEqual(limiter.take("k", 1, rate), {
      allowed: true,
      limit: 5,
      remaining: left,
      retryAfterS: 0,
      waitMs: 0,
      resetS: 1,
    });
  }
  assert.deepEqual(limiter.take("k", 1, rate), {
    allowed: false,
    limit: 5,
    remaining: 0,
    retryAfterS: 1,
    waitMs: 100,
    resetS: 1,
  });
  pass(99);
  assert.equal(limiter.take("k", 1, rate).allowed, false);
  pass(1);
  assert.equal(limiter.take("k", 1, rate).allowed, true);
  assert.equal(limiter.take("k", 1, rate).allowed, false);
});

test("a call takes its whole cost or nothing", () => {
  const { limiter } = limiterAt(1e12);
  assert.equal(limiter.take("k", 3, rate).remaining, 2);
  assert.deepEqual(limiter.take("k", 3, rate), {
    allowed: false,
    limit: 5,
    remaining: 2,
    retryAfterS: 1,
    waitMs: 100,
    resetS: 1,
  });
  assert.equal(limiter.take("k", 2, rate).allowed, true);
});

test("a cost above the burst takes a full bucket instead of never being allowed", () => {
  const { limiter, pass } = limiterAt(1e12);
  assert.deepEqual(limiter.take("k", 50, rate).allowed, true);
  assert.equal(limiter.take("k", 50, rate).allowed, false);
  pass(500);
  assert.equal(limiter.take("k", 50, rate).allowed, true);
});

test("a call without cost is always allowed and takes nothing", () => {
  const { limiter } = limiterAt(1e12);
  limiter.take("k", 5, rate);
  assert.deepEqual(limiter.take("k", 0, rate), {
    allowed: true,
    limit: 5,
    remaining: 0,
    retryAfterS: 0,
    waitMs: 0,
    resetS: 1,
  });
  limiter.take("other", 0, rate);
  assert.equal(limiter.size, 1);
});

test("keys do not share a bucket", () => {
  const { limiter } = limiterAt(1e12);
  limiter.take("a", 5, rate);
  assert.equal(limiter.take("a", 1, rate).allowed, false);
  assert.equal(limiter.take("b", 1, rate).allowed, true);
});

test("retryAfterS is the time after which the same call is allowed", () => {
  const slow = { rps: 0.1, burst: 2 };
  const { limiter, pass } = limiterAt(1e12);
  limiter.take("k", 2, slow);
  const { retryAfterS } = limiter.take("k", 1, slow);
  assert.equal(retryAfterS, 10);
  pass(retryAfterS * 1000);
  assert.equal(limiter.take("k", 1, slow).allowed, true);
});

test("any call pattern is granted nearly the burst plus the refilled tokens, and never more", () => {
  const step = fc.record({ wait: fc.integer({ min: 0, max: 300 }), cost: fc.integer({ min: 1, max: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { limiter, pass } = limiterAt(1_700_000_000_000);
      let granted = 0;
      let elapsedMs = 0;
      let refused = false;
      for (const { wait, cost } of steps) {
        pass(wait);
        elapsedMs += wait;
        const verdict = limiter.take("k", cost, rate);
        if (verdict.allowed) granted += cost;
        else refused = true;
        assert.ok(granted <= rate.burst + (elapsedMs * rate.rps) / 1000 + 1e-3);
      }
      if (!refused)
        assert.equal(
          granted,
          steps.reduce((sum, { cost }) => sum + cost, 0),
        );
    }),
  );
});

test("a clock set back delays callers by no more than a full bucket's time", () => {
  const { limiter, pass } = limiterAt(1_700_000_000_000);
  limiter.take("k", 5, rate);
  pass(-3_600_000);
  assert.equal(limiter.take("k", 1, rate).retryAfterS, 1);
  pass(100);
  assert.equal(limiter.take("k", 1, rate).allowed, true);
});

test("full buckets are deleted, so memory follows the number of active callers", () => {
  const { limiter, pass } = limiterAt(1e12);
  let most = 0;
  for (let n = 0; n < 200_000; n++) {
    limiter.take(`key ${n}`, 1, rate);
    if (n % 10 === 0) pass(1);
    most = Math.max(most, limiter.size);
  }
  // At any time 1,000 keys are not full (100 ms at 10 per millisecond). The sweep may lag behind by the same number.
  assert.ok(most < 5_000, `${most} buckets`);
});

test("an invalid rate is refused", () => {
  const { limiter } = limiterAt(1e12);
  for (const bad of [
    { rps: 0, burst: 1 },
    { rps: 1, burst: 0 },
    { rps: Number.NaN, burst: 1 },
  ]) {
    assert.throws(
      () => limiter.take("k", 1, bad),
      (error: unknown) => error instanceof Failure && error.code === "INTERNAL",
    );
  }
  assert.throws(() => limiter.take("k", -1, rate), Failure);
});
