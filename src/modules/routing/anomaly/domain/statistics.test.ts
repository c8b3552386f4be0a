import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { mean, median, medianAbsoluteDeviation, quantile, standardDeviation } from "./statistics.ts";

const value = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((each) => each / 100);
const values = fc.array(value, { minLength: 1, maxLength: 40 });

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);
}

/** The interpolated value at a position of the sorted values, counted from 0. */
function at(sorted: readonly number[], place: number): number {
  const whole = Math.trunc(place);
  if (whole === place) return sorted[whole]!;
  return sorted[whole]! * (whole + 1 - place) + sorted[whole + 1]! * (place - whole);
}

test("known values are computed correctly", () => {
  assert.equal(mean([1, 2, 6]), 3);
  near(standardDeviation([2, 4, 4, 4, 5, 5, 7, 9]), Math.sqrt(32 / 7));
  assert.deepEqual([quantile([1, 2, 3, 4], 0.25), quantile([1, 2, 3, 4], 0.75), median([5, 1, 3])], [1.75, 3.25, 3]);
  assert.equal(medianAbsoluteDeviation([1, 1, 2, 2, 4, 6, 9]), 1);
  assert.deepEqual([standardDeviation([7]), medianAbsoluteDeviation([7]), quantile([7], 0.75)], [0, 0, 7]);
});

test("the standard deviation equals its formula over the differences of all pairs", () => {
  fc.assert(
    fc.property(values, (given) => {
      const n = given.length;
      let squares = 0;
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) squares += (given[i]! - given[j]!) ** 2;
      near(standardDeviation(given), n < 2 ? 0 : Math.sqrt(squares / (n * (n - 1))));
    }),
  );
});

test("quantiles equal the interpolated sorted values, whatever the input order", () => {
  fc.assert(
    fc.property(values, fc.constantFrom(0, 0.25, 0.5, 0.75, 1), (given, share) => {
      const sorted = [...given].sort((a, b) => a - b);
      near(quantile(given, share), at(sorted, share * (given.length - 1)));
      assert.equal(quantile(sorted, share), quantile([...sorted].reverse(), share));
    }),
  );
});

test("the median absolute deviation equals its definition, scales with the values and ignores shifts", () => {
  fc.assert(
    fc.property(values, value, fc.integer({ min: 1, max: 50 }), (given, shift, scale) => {
      const middle = at(
        [...given].sort((a, b) => a - b),
        (given.length - 1) / 2,
      );
      const distances = given.map((each) => Math.abs(each - middle)).sort((a, b) => a - b);
      near(medianAbsoluteDeviation(given), at(distances, (given.length - 1) / 2));
      near(medianAbsoluteDeviation(given.map((each) => each * scale + shift)), medianAbsoluteDeviation(given) * scale);
    }),
  );
});
