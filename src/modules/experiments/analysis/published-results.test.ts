// Results that were published elsewhere, to the digits given there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "./analysis.ts";
import type { MetricComparison } from "./analysis-result.ts";
import { estimateArm } from "./comparison/arm-estimate.ts";
import { emptyMoments, type MetricMoments } from "./moments.ts";
import type { MetricType } from "./plan.ts";
import { checkSampleRatio } from "./sample-ratio.ts";
import { alwaysValidP, createSequence, criticalValue } from "./significance/confidence-sequence.ts";
import { normalQuantile } from "./significance/normal-quantile.ts";

function compareTwo(
  type: MetricType,
  plannedUnits: number,
  a: MetricMoments,
  b: MetricMoments,
  weights = { a: 3000, b: 3461 },
): MetricComparison {
  const arm = (variant: string, moments: MetricMoments) => ({
    variant,
    units: moments.n,
    mature: moments.n,
    metrics: { metric: moments },
  });
  const analysis = analyse(
    {
      alpha: 0.05,
      plannedUnits,
      control: "a",
      variants: ["a", "b"],
      metrics: [{ key: "metric", type, role: "success", direction: "increase", margin: 0 }],
    },
    [{ weights, arms: [arm("a", a), arm("b", b)] }],
  );
  return analysis.variants[1]!.comparisons[0]!;
}

/** From a sum and a sum of squares, as the source gives them. */
function momentsOfSums(n: number, sum: number, squares: number): MetricMoments {
  return { ...emptyMoments(), n, mean: sum / n, m2: squares - sum ** 2 / n, nonZero: n };
}

function momentsOfEvents(n: number, events: number): MetricMoments {
  return { ...emptyMoments(), n, mean: events / n, m2: events - events ** 2 / n, nonZero: events };
}

/** The lift with its interval by the delta method, which the source uses, and the same sequence. */
function deltaInterval(type: MetricType, plannedUnits: number, a: MetricMoments, b: MetricMoments): string[] {
  const [one, other] = [estimateArm(type, a), estimateArm(type, b)];
  const variance = other.meanVariance / one.mean ** 2 + (one.meanVariance * other.mean ** 2) / one.mean ** 4;
  const halfWidth = Math.sqrt(variance) * criticalValue(createSequence(0.05, plannedUnits), a.n + b.n);
  return [-halfWidth, halfWidth].map((side) => (other.mean / one.mean - 1 + side).toFixed(5));
}

test("the width of the sequence for means and proportions, from GrowthBook's tests", () => {
  const [a, b] = [momentsOfSums(3000, 1396.87, 52377.9767), momentsOfSums(3461, 2422.7, 134698.29)];
  assert.deepEqual(deltaInterval("mean", 1000, a, b), ["-0.55844", "1.56516"]);
  const [c, d] = [momentsOfEvents(3000, 1396), momentsOfEvents(3461, 2422)];
  assert.deepEqual(deltaInterval("proportion", 5000, c, d), ["0.40098", "0.60675"]);
});

test("both ends of the interval of a lift are where the sequence of b - r·a reaches 0", () => {
  const [a, b] = [momentsOfEvents(3000, 1396), momentsOfEvents(3461, 2422)];
  const { liftInterval } = compareTwo("proportion", 5000, a, b);
  const [one, other] = [estimateArm("proportion", a), estimateArm("proportion", b)];
  const critical = criticalValue(createSequence(0.05, 5000), a.n + b.n);
  for (const ratio of [liftInterval!.lower + 1, liftInterval!.upper + 1]) {
    const error = Math.sqrt(other.meanVariance + ratio ** 2 * one.meanVariance);
    assert.ok(Math.abs(Math.abs(other.mean - ratio * one.mean) / error - critical) < 1e-9, `${ratio}`);
  }
});

test("retention in Cookie Cats: the always-valid p-value is larger than the fixed one of .0016", () => {
  const [a, b] = [momentsOfEvents(44_700, 8_502), momentsOfEvents(45_489, 8_279)];
  const p = (plannedUnits: number) => compareTwo("proportion", plannedUnits, a, b, { a: 1, b: 1 }).p!.toFixed(3);
  assert.equal(p(5_000), "0.083");
  assert.equal(p(90_000), "0.035");
});

test("the sample ratio of Cookie Cats: chi-square p is .0086, and the sequential test does not call it a mismatch", () => {
  const [a, b] = [44_700, 45_489];
  const chiSquare = (a - b) ** 2 / (a + b);
  assert.ok(
    Math.sqrt(chiSquare) > normalQuantile(1 - 0.00865 / 2) && Math.sqrt(chiSquare) < normalQuantile(1 - 0.00855 / 2),
  );
  const arms = [
    { variant: "a", units: a, mature: 0, metrics: {} },
    { variant: "b", units: b, mature: 0, metrics: {} },
  ];
  const ratio = checkSampleRatio(["a", "b"], [{ weights: { a: 1, b: 1 }, arms }]);
  assert.equal(ratio.isMismatch, false);
  assert.deepEqual(ratio.arms, [
    { variant: "a", units: a, expected: (a + b) / 2 },
    { variant: "b", units: b, expected: (a + b) / 2 },
  ]);
});

test("the p-value reaches alpha exactly where the interval reaches 0", () => {
  for (const n of [10, 100, 5_000, 1_000_000]) {
    const sequence = createSequence(0.05, 5_000);
    const p = alwaysValidP(sequence, n, criticalValue(sequence, n));
    assert.ok(Math.abs(p - 0.05) < 1e-12, `${n}: ${p}`);
  }
});
