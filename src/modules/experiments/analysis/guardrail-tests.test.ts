import assert from "node:assert/strict";
import { test } from "node:test";
import { compareFailures, compareMeans, excludesLoss, testFailureShare, testMean } from "./guardrail-tests.ts";
import { addToMoments, emptyMoments } from "./moments.ts";

function momentsOf(values: readonly number[]) {
  const moments = emptyMoments();
  for (const value of values) addToMoments(moments, { value });
  return moments;
}

/** A sequence of numbers from 0 to 1 that is the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test("a share of failures needs enough keys before it is better or worse than its limit", () => {
  assert.equal(testFailureShare(0, 54, 0.1).result, "undecided");
  assert.equal(testFailureShare(0, 55, 0.1).result, "better");
  assert.equal(testFailureShare(20, 55, 0.1).result, "worse");
  assert.deepEqual(testFailureShare(0, 0, 0.1), { result: "undecided", p: null });
});

test("a limit of no failures is violated by one, and a limit of all failures is never violated", () => {
  assert.equal(testFailureShare(1, 1000, 0).result, "worse");
  assert.equal(testFailureShare(0, 1000, 0).result, "undecided");
  assert.equal(testFailureShare(1000, 1000, 1).result, "better");
});

test("a mean is compared with its limit from 25 values on", () => {
  const values = Array.from({ length: 100 }, (_, n) => 100 + (n % 10));
  assert.equal(testMean(momentsOf(values.slice(0, 24)), 200).result, "undecided");
  assert.equal(testMean(momentsOf(values), 200).result, "better");
  assert.equal(testMean(momentsOf(values), 50).result, "worse");
});

test("a canary is worse when its failures exceed its share of the keys", () => {
  assert.equal(compareFailures(14, 0, 0.5).result, "undecided");
  assert.equal(compareFailures(15, 0, 0.5).result, "worse");
  assert.equal(compareFailures(5, 95, 0.05).result, "undecided");
  assert.equal(compareFailures(0, 0, 0.5).p, null);
});

test("a canary that is not significantly worse can still lose more than the margin", () => {
  const [canary, baseline] = [
    { failures: 5, keys: 20 },
    { failures: 0, keys: 136 },
  ];
  assert.equal(compareFailures(5, 0, 0.13).result, "undecided");
  assert.equal(excludesLoss(canary, baseline, 0.05), false);
  assert.equal(excludesLoss({ failures: 0, keys: 109 }, baseline, 0.05), false, "too few keys to tell");
  assert.equal(excludesLoss({ failures: 0, keys: 110 }, baseline, 0.05), true);
  assert.equal(
    excludesLoss({ failures: 0, keys: 110 }, { failures: 0, keys: 0 }, 0.05),
    false,
    "nothing to compare with",
  );
  // A baseline of few keys shows little, also if all of them failed.
  assert.equal(excludesLoss({ failures: 50, keys: 100 }, { failures: 2, keys: 2 }, 0.05), false);
});

test("a canary that loses more than the margin rarely passes, however often somebody looks", () => {
  const next = seeded(7);
  let passed = 0;
  for (let run = 0; run < 100; run++) {
    const canary = { failures: 0, keys: 0 };
    const baseline = { failures: 0, keys: 0 };
    let everPassed = false;
    for (let key = 1; key <= 600; key++) {
      const [side, rate] = next() < 0.5 ? [canary, 0.16] : [baseline, 0.1];
      side.keys++;
      if (next() < rate) side.failures++;
      everPassed ||= key % 20 === 0 && excludesLoss(canary, baseline, 0.05);
    }
    if (everPassed) passed++;
  }
  assert.ok(passed <= 5, `${passed} of 100`);
});

test("a slower canary is worse, and one with too few keys is undecided", () => {
  const next = seeded(1);
  const around = (mean: number, count: number) => momentsOf(Array.from({ length: count }, () => mean + next() * 20));
  assert.equal(compareMeans(around(130, 200), around(100, 200), 0.5).result, "worse");
  assert.equal(compareMeans(around(100, 200), around(130, 200), 0.5).result, "better");
  assert.equal(compareMeans(around(130, 20), around(100, 200), 0.5).result, "undecided");
});

test("a canary that is as good as its baseline is rarely found worse, however often somebody looks", () => {
  const next = seeded(7);
  let found = 0;
  for (let run = 0; run < 300; run++) {
    let [canary, baseline] = [0, 0];
    for (let key = 0; key < 500; key++) {
      if (next() >= 0.1) continue;
      if (next() < 0.2) canary++;
      else baseline++;
      if (compareFailures(canary, baseline, 0.2).result !== "worse") continue;
      found++;
      break;
    }
  }
  assert.ok(found / 300 < 0.05, `${found} of 300`);
});
