import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLimiter } from "../../../platform/ratelimit/index.ts";
import { createExhaustedBuckets } from "./exhausted-buckets.ts";

test("an exhausted bucket refuses like the limiter until it refills, and never refuses a cheaper call", (t) => {
  let nowMs = 1_000_000;
  t.mock.method(Date, "now", () => nowMs);
  const limiter = createMemoryLimiter({ now: () => nowMs });
  const rate = { rps: 10, burst: 20 };
  const exhausted = createExhaustedBuckets();
  limiter.take("a", 18, rate);
  exhausted.add("a", 5, rate.rps, limiter.take("a", 5, rate));
  assert.equal(exhausted.find("a", 1), undefined, "two tokens are left for cheaper calls");
  assert.equal(exhausted.find("b", 5), undefined);
  for (let stepMs = 0; stepMs <= 400; stepMs += 25, nowMs += 25) {
    const fresh = limiter.take("a", 5, rate);
    const known = exhausted.find("a", 5);
    assert.equal(known === undefined, fresh.allowed, `after ${stepMs} ms`);
    if (known === undefined) return;
    const { allowed, limit, remaining, retryAfterS, resetS } = fresh;
    const { waitMs: _, ...reported } = known.verdict;
    assert.deepEqual(reported, { allowed, limit, remaining, retryAfterS, resetS: reported.resetS });
    assert.ok(Math.abs(reported.resetS - resetS) <= 1);
  }
  assert.fail("the bucket never refilled");
});

test("a call that costs more than the refused one is told its own wait", (t) => {
  const nowMs = 1_000_000;
  t.mock.method(Date, "now", () => nowMs);
  const limiter = createMemoryLimiter({ now: () => nowMs });
  const rate = { rps: 1, burst: 20 };
  const exhausted = createExhaustedBuckets();
  limiter.take("a", 20, rate);
  exhausted.add("a", 1, rate.rps, limiter.take("a", 1, rate));
  for (const cost of [1, 7, 20, 50]) {
    assert.deepEqual(exhausted.find("a", cost)?.verdict, limiter.take("a", cost, rate), `cost ${cost}`);
  }
});

test("a clock that is set back frees an exhausted bucket", (t) => {
  let nowMs = 1_000_000;
  t.mock.method(Date, "now", () => nowMs);
  const exhausted = createExhaustedBuckets();
  const verdict = { allowed: false, limit: 1, remaining: 0, retryAfterS: 60, waitMs: 60_000, resetS: 60 };
  exhausted.add("a", 1, 1, verdict);
  assert.ok(exhausted.find("a", 1) !== undefined);
  nowMs -= 5000;
  assert.equal(exhausted.find("a", 1), undefined);
});
