import assert from "node:assert/strict";
import { test } from "node:test";
import type { PhaseSummary } from "./analysis-result.ts";
import { checkSampleRatio } from "./sample-ratio.ts";

function phase(weights: Record<string, number>, units: Record<string, number>): PhaseSummary {
  const arms = Object.entries(units).map(([variant, count]) => ({ variant, units: count, mature: 0, metrics: {} }));
  return { weights, arms };
}

test("arms that fit their weights are no mismatch, however unequal the weights are", () => {
  assert.equal(checkSampleRatio(["a", "b"], [phase({ a: 95, b: 5 }, { a: 95_000, b: 5_000 })]).p, 1);
  assert.equal(checkSampleRatio(["a", "b", "c"], [phase({ a: 1, b: 2, c: 1 }, { a: 2_510, b: 4_990, c: 2_500 })]).p, 1);
});

test("a lost percent of one arm is found", () => {
  const { p, isMismatch } = checkSampleRatio(["a", "b"], [phase({ a: 1, b: 1 }, { a: 102_000, b: 100_000 })]);
  assert.ok(p < 0.001, String(p));
  assert.equal(isMismatch, true);
});

test("each phase is compared with its own weights", () => {
  const phases = [phase({ a: 9, b: 1 }, { a: 9_000, b: 1_000 }), phase({ a: 1, b: 1 }, { a: 5_000, b: 5_000 })];
  const { p, arms } = checkSampleRatio(["a", "b"], phases);
  assert.equal(p, 1);
  assert.deepEqual(arms, [
    { variant: "a", units: 14_000, expected: 14_000 },
    { variant: "b", units: 6_000, expected: 6_000 },
  ]);
});

test("opposite mismatches of two phases do not cancel out", () => {
  const phases = [phase({ a: 1, b: 1 }, { a: 5_500, b: 4_500 }), phase({ a: 1, b: 1 }, { a: 4_500, b: 5_500 })];
  assert.equal(checkSampleRatio(["a", "b"], phases).isMismatch, true);
});

test("a unit in a variant without a weight is a mismatch, an absent variant is not", () => {
  assert.equal(checkSampleRatio(["a", "b"], [phase({ a: 1, b: 0 }, { a: 10, b: 1 })]).p, 0);
  assert.equal(checkSampleRatio(["a", "b"], [phase({ a: 1, b: 0 }, { a: 10, b: 0 })]).p, 1);
  assert.equal(checkSampleRatio(["a", "b"], [phase({ a: 1 }, { a: 10 })]).p, 1);
});

test("a mismatch that was found stays, even when later units dilute it", () => {
  const balanced = [phase({ a: 1, b: 1 }, { a: 5_000, b: 5_000 })];
  const { p, isMismatch } = checkSampleRatio(["a", "b"], balanced, 0.0005);
  assert.equal(p, 0.0005);
  assert.equal(isMismatch, true);
});

test("nothing and a single variant are no mismatch", () => {
  assert.equal(checkSampleRatio(["a", "b"], []).p, 1);
  assert.equal(checkSampleRatio(["a"], [phase({ a: 1 }, { a: 1_000_000 })]).p, 1);
});
