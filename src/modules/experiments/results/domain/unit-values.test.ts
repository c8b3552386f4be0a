import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metric } from "../../experiments/index.ts";
import { unitValueOf } from "./unit-values.ts";

const metricOf = (fields: Partial<Metric>): Metric => ({
  ...{ key: "m", type: "mean", role: "success", direction: "increase", margin: 0, aggregation: "sum" },
  ...fields,
});
const scoresOf = (...values: number[]) =>
  values.map((value, at) => ({ metric: "m", value, denominator: 2, observedAtMs: at }));

test("a unit without scores counts as 0 for counts and proportions, and is left out otherwise", () => {
  for (const type of ["count", "proportion", "rare_event"] as const) {
    assert.deepEqual(unitValueOf(metricOf({ type }), [], undefined), { value: 0 });
  }
  for (const type of ["mean", "ratio"] as const)
    assert.equal(unitValueOf(metricOf({ type }), [], undefined), undefined);
});

test("the scores of a unit are aggregated as the metric says", () => {
  const scores = scoresOf(5, 1, 3);
  const values = (["sum", "average", "max", "last"] as const).map(
    (aggregation) => unitValueOf(metricOf({ aggregation }), scores, undefined)?.value,
  );
  assert.deepEqual(values, [9, 3, 5, 3]);
  assert.equal(unitValueOf(metricOf({ type: "proportion" }), scores, undefined)?.value, 1);
  assert.equal(unitValueOf(metricOf({ type: "proportion" }), scoresOf(0), undefined)?.value, 0);
});

test("a cap limits the value of a unit, a ratio has the sum of denominators, and a covariate is kept", () => {
  assert.deepEqual(unitValueOf(metricOf({ winsorCap: 6 }), scoresOf(5, 5), 3), { value: 6, covariate: 3 });
  const ratio = unitValueOf(metricOf({ type: "ratio" }), scoresOf(1, 0, 1), undefined);
  assert.deepEqual(ratio, { value: 2, denominator: 6 });
});

test("a unit may have more scores than a call can have arguments", () => {
  const many = scoresOf(...Array.from({ length: 1000 }, (_, at) => at));
  const scores = Array.from({ length: 500 }, () => many).flat();
  assert.equal(unitValueOf(metricOf({ aggregation: "max" }), scores, undefined)?.value, 999);
});
