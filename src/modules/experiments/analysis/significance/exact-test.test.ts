import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { equalRatesP, logBayesFactor, relativeRate } from "./exact-test.ts";
import { logGamma } from "./log-gamma.ts";
import { normalQuantile } from "./normal-quantile.ts";

function assertClose(actual: number, expected: number, tolerance: number): void {
  // The difference of equal infinities is no number.
  assert.ok(actual === expected || Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

test("the logarithm of the gamma function is that of the factorial, and of the square root of pi at one half", () => {
  let logFactorial = 0;
  for (let n = 1; n <= 200; n++) {
    assertClose(logGamma(n), logFactorial, 1e-12 * Math.max(1, logFactorial));
    logFactorial += Math.log(n);
  }
  assertClose(logGamma(0.5), Math.log(Math.PI) / 2, 1e-14);
  // Γ(x + 1) = x Γ(x), across the point where the series takes over, and for small and large arguments.
  for (const x of [0.001, 0.3, 2.5, 9.5, 10.5, 1234.5, 1e6]) {
    assertClose(logGamma(x + 1) - logGamma(x), Math.log(x), 1e-9);
  }
});

test("normal quantiles match the tables", () => {
  assertClose(normalQuantile(0.975), 1.959963985, 1e-8);
  assertClose(normalQuantile(0.8), 0.841621234, 1e-8);
  assertClose(normalQuantile(0.001), -3.090232306, 1e-8);
  assertClose(normalQuantile(0.999), 3.090232306, 1e-8);
});

test("the Bayes factor is the product of the predictive probabilities over the tested ones, unit by unit", () => {
  const [concentration, shares] = [20, [0.05, 0.25, 0.7]];
  const counts = [0, 0, 0];
  let expected = 0;
  for (const next of [2, 2, 0, 1, 2, 0, 0, 1, 2, 2, 2, 1]) {
    const total = counts.reduce((sum, count) => sum + count, 0);
    expected += Math.log((concentration * shares[next]! + counts[next]!) / (concentration + total) / shares[next]!);
    counts[next]!++;
    assertClose(logBayesFactor(counts, shares, concentration), expected, 1e-12);
  }
});

test("the Bayes factor averages to 1 under the tested shares, which bounds the false positives", () => {
  // All sequences of ten units, by their number of treated ones.
  for (const share of [0.05, 0.5, 0.9]) {
    let expectation = 0;
    let binomial = 1;
    for (let treated = 0; treated <= 10; treated++) {
      const probability = binomial * share ** treated * (1 - share) ** (10 - treated);
      expectation += probability * Math.exp(logBayesFactor([treated, 10 - treated], [share, 1 - share], 20));
      binomial = (binomial * (10 - treated)) / (treated + 1);
    }
    assertClose(expectation, 1, 1e-12);
  }
});

const counts = fc.record({
  control: fc.nat(500),
  treatment: fc.nat(500),
  treatmentShare: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
});

test("the interval of the relative rate contains 1 exactly when the test does not reject equal rates", () => {
  fc.assert(
    fc.property(fc.array(counts, { minLength: 1, maxLength: 3 }), (phases) => {
      const { estimate, lower, upper } = relativeRate(phases, 0.05);
      const p = equalRatesP(phases);
      // Bisection ends next to the boundary.
      fc.pre(Math.abs(p - 0.05) > 1e-9);
      assert.equal(lower < 1 && upper > 1, p > 0.05);
      if (!Number.isNaN(estimate)) assert.ok(lower <= estimate && estimate <= upper, `${lower} ${estimate} ${upper}`);
    }),
  );
});

test("swapping the arms inverts the relative rate", () => {
  fc.assert(
    fc.property(counts, ({ control, treatment, treatmentShare }) => {
      fc.pre(control > 0 && treatment > 0);
      const rate = relativeRate([{ control, treatment, treatmentShare }], 0.05);
      const swapped = relativeRate(
        [{ control: treatment, treatment: control, treatmentShare: 1 - treatmentShare }],
        0.05,
      );
      assertClose(Math.log(rate.estimate), -Math.log(swapped.estimate), 1e-6);
      assertClose(Math.log(rate.lower), -Math.log(swapped.upper), 1e-6);
    }),
    // An interval that is open at one end.
    { examples: [[{ control: 12, treatment: 1, treatmentShare: 0.9885294427313465 }]] },
  );
});

test("one phase has the plain relative rate as its estimate", () => {
  const { estimate } = relativeRate([{ control: 95, treatment: 15, treatmentShare: 0.05 }], 0.05);
  assertClose(estimate, 3, 1e-9);
});

test("without events of one arm the interval is open at one end", () => {
  assert.equal(
    relativeRate([{ control: 0, treatment: 30, treatmentShare: 0.5 }], 0.05).upper,
    Number.POSITIVE_INFINITY,
  );
  assert.equal(relativeRate([{ control: 30, treatment: 0, treatmentShare: 0.5 }], 0.05).lower, 0);
  assert.ok(Number.isNaN(relativeRate([{ control: 0, treatment: 0, treatmentShare: 0.5 }], 0.05).estimate));
});
