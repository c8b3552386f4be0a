import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import {
  addToMoments,
  emptyMoments,
  type MetricMoments,
  mergeMoments,
  momentFields,
  momentsOfUnit,
  removeFromMoments,
  type UnitValue,
  winsorize,
} from "./index.ts";

const values = fc.double({ min: -1e4, max: 1e4, noNaN: true });
const units = fc.array(
  fc.record({
    value: fc.oneof(fc.constant(0), values),
    covariate: fc.option(values, { nil: undefined }),
    denominator: fc.double({ min: 0, max: 1e3, noNaN: true }),
  }),
  { maxLength: 60 },
);

function momentsOfAll(all: readonly UnitValue[]): MetricMoments {
  const moments = emptyMoments();
  for (const unit of all) addToMoments(moments, unit);
  return moments;
}

/** Relative to the largest numbers that the arbitrary units can produce. */
function assertClose(actual: MetricMoments, expected: MetricMoments): void {
  for (const field of momentFields) {
    const scale = field.endsWith("2") || field.endsWith("Product") ? 1e10 : 1e4;
    assert.ok(
      Math.abs(actual[field] - expected[field]) <= 1e-9 * scale,
      `${field}: ${actual[field]}, ${expected[field]}`,
    );
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}

function products(xs: readonly number[], ys: readonly number[]): number {
  const [meanX, meanY] = [mean(xs), mean(ys)];
  return xs.reduce((sum, x, i) => sum + (x - meanX) * (ys[i]! - meanY), 0);
}

test("moments equal the definitions in two passes", () => {
  fc.assert(
    fc.property(units, (all) => {
      const numerators = all.map(({ value }) => value);
      const denominators = all.map(({ denominator }) => denominator);
      const known = all.filter(({ covariate }) => covariate !== undefined);
      const covariates = known.map(({ covariate }) => covariate!);
      const outcomes = known.map(({ value }) => value);
      assertClose(momentsOfAll(all), {
        n: all.length,
        mean: mean(numerators),
        m2: products(numerators, numerators),
        nonZero: numerators.filter((value) => value !== 0).length,
        covariateN: known.length,
        covariateMean: mean(covariates),
        covariateM2: products(covariates, covariates),
        covariateProduct: products(covariates, outcomes),
        covariateOutcomeMean: mean(outcomes),
        denominatorMean: mean(denominators),
        denominatorM2: products(denominators, denominators),
        denominatorProduct: products(denominators, numerators),
      });
    }),
  );
});

test("merged parts equal the whole, wherever it is cut", () => {
  fc.assert(
    fc.property(units, fc.nat(60), (all, cut) => {
      const [first, second] = [momentsOfAll(all.slice(0, cut)), momentsOfAll(all.slice(cut))];
      assertClose(mergeMoments(first, second), momentsOfAll(all));
      assertClose(mergeMoments(second, first), momentsOfAll(all));
    }),
  );
});

test("the order of units and of merges does not matter", () => {
  const shuffled = units.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, other]) => {
      assertClose(momentsOfAll(other), momentsOfAll(all));
      assertClose(other.map(momentsOfUnit).reduce(mergeMoments, emptyMoments()), momentsOfAll(all));
    }),
  );
});

test("merging is associative", () => {
  fc.assert(
    fc.property(units, units, units, (a, b, c) => {
      const [x, y, z] = [momentsOfAll(a), momentsOfAll(b), momentsOfAll(c)];
      assertClose(mergeMoments(mergeMoments(x, y), z), mergeMoments(x, mergeMoments(y, z)));
    }),
  );
});

test("removing a part leaves the rest", () => {
  fc.assert(
    fc.property(units, units, (rest, part) => {
      const whole = mergeMoments(momentsOfAll(rest), momentsOfAll(part));
      assertClose(removeFromMoments(whole, momentsOfAll(part)), momentsOfAll(rest));
    }),
  );
});

test("more units than there are cannot be removed", () => {
  const [one, two] = [momentsOfAll([{ value: 1 }]), momentsOfAll([{ value: 1 }, { value: 2 }])];
  assert.throws(() => removeFromMoments(one, two), RangeError);
  assert.throws(() => removeFromMoments(two, momentsOfUnit({ value: 1, covariate: 3 })), RangeError);
});

test("the variance survives a mean that is a billion times larger", () => {
  const moments = emptyMoments();
  for (let i = 0; i < 10_000; i++) addToMoments(moments, { value: 1e9 + (i % 2) });
  assert.ok(Math.abs(moments.m2 / moments.n - 0.25) < 1e-6, String(moments.m2 / moments.n));
});

test("the fields in storage order are all fields", () => {
  assert.deepEqual([...momentFields].sort(), Object.keys(emptyMoments()).sort());
});

test("a winsor cap limits values on both sides, and only then", () => {
  assert.deepEqual(
    [12, 5, 0, -5, -12].map((value) => winsorize(value, 10)),
    [10, 5, 0, -5, -10],
  );
  assert.equal(winsorize(1e9, undefined), 1e9);
});
