import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLimiter } from "../../../platform/ratelimit/index.ts";
import { spentBuckets } from "./spent-buckets.ts";

test("a spent bucket refuses as the limiter would, until it can give again, and never a call that costs less", (t) => {
  let nowMs = 1_000_000;
  t.mock.method(Date, "now", () => nowMs);
  const limiter = createMemoryLimiter({ now: () => nowMs });
  const rate = { rps: 10, burst: 20 };
  const spent = spentBuckets();
  limiter.take("a", 18, rate);
  spent.note("a", 5, rate.rps, limiter.take("a", 5, rate));
  assert.equal(spent.find("a", 1), undefined, "two tokens are left for calls that cost less");
  assert.equal(spent.find("b", 5), undefined);
  for (let stepMs = 0; stepMs <= 400; stepMs += 25, nowMs += 25) {
    const asked = limiter.take("a", 5, rate);
    const known = spent.find("a", 5);
    assert.equal(known === undefined, asked.allowed, `after ${stepMs} ms`);
    if (known === undefined) return;
    const { allowed, limit, remaining, retryAfterS, resetS } = asked;
    const { waitMs: _, ...told } = known.verdict;
    assert.deepEqual(told, { allowed, limit, remaining, retryAfterS, resetS: told.resetS });
    assert.ok(Math.abs(told.resetS - resetS) <= 1);
  }
  assert.fail("the bucket never filled");
});

test("a clock that is set back frees a spent bucket", (t) => {
  let nowMs = 1_000_000;
  t.mock.method(Date, "now", () => nowMs);
  const spent = spentBuckets();
  const verdict = { allowed: false, limit: 1, remaining: 0, retryAfterS: 60, waitMs: 60_000, resetS: 60 };
  spent.note("a", 1, 1, verdict);
  assert.ok(spent.find("a", 1) !== undefined);
  nowMs -= 5000;
  assert.equal(spent.find("a", 1), undefined);
});
