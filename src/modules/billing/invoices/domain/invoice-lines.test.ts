import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { PlanTerms, Price, PriceTier } from "../../plans/index.ts";
import { type RatedSegment, rateLines, totalOf, usageAmount } from "./invoice-lines.ts";
import { prorate, type TimeRange } from "./proration.ts";
import { divideRounded, divideRoundedUp } from "./rounded-division.ts";

const amounts = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
const units = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
const positive = fc.bigInt({ min: 1n, max: 1_000_000_000n });

/** A period and the bounds of its parts, in order. */
const dividedPeriods = fc
  .record({
    startMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    lengthMs: fc.integer({ min: 1, max: 366 * 86_400_000 }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
  })
  .map(({ startMs, lengthMs, cuts }) => {
    const inner = cuts.map((cut) => startMs + Math.floor(cut * lengthMs)).sort((a, b) => a - b);
    const bounds = [startMs, ...inner, startMs + lengthMs];
    const parts = bounds.slice(1).map((untilMs, at) => ({ fromMs: bounds[at]!, untilMs }));
    return { period: { fromMs: startMs, untilMs: startMs + lengthMs }, parts };
  });

const tiersOf = fc
  .array(fc.record({ size: positive, amount: amounts, perUnits: positive, flatAmount: amounts }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((drawn) => {
    let upTo = 0n;
    return drawn.map(({ size, ...tier }, at): PriceTier => {
      upTo += size;
      return { ...tier, upTo: at === drawn.length - 1 ? 0n : upTo };
    });
  });

const prices = fc.record({
  key: fc.constant("price"),
  name: fc.constant("Price"),
  model: fc.constantFrom("flat", "per_unit", "package", "graduated", "volume"),
  meterKey: fc.constant("meter"),
  amount: amounts,
  perUnits: positive,
  included: fc.constant(0n),
  tiers: tiersOf,
}) as fc.Arbitrary<Price>;

test("a rounded quotient is the nearest integer, and a half is rounded up", () => {
  for (const [dividend, divisor, rounded] of [
    [0n, 3n, 0n],
    [1n, 3n, 0n],
    [1n, 2n, 1n],
    [3n, 2n, 2n],
    [5n, 3n, 2n],
    [7n, 7n, 1n],
  ] as const) {
    assert.equal(divideRounded(dividend, divisor), rounded, `${dividend} / ${divisor}`);
  }
  fc.assert(
    fc.property(units, positive, (dividend, divisor) => {
      const twiceError = 2n * (divideRounded(dividend, divisor) * divisor - dividend);
      assert.ok(-divisor < twiceError && twiceError <= divisor);
      const up = divideRoundedUp(dividend, divisor) * divisor - dividend;
      assert.ok(up >= 0n && up < divisor);
    }),
  );
});

test("the shares of the parts of a period add up to the amount, and each is within one unit of the exact share", () => {
  fc.assert(
    fc.property(amounts, dividedPeriods, (amount, { period, parts }) => {
      const lengthMs = BigInt(period.untilMs - period.fromMs);
      let sum = 0n;
      for (const part of parts) {
        const share = prorate(amount, part, period);
        assert.ok(share >= 0n);
        const error = share * lengthMs - amount * BigInt(part.untilMs - part.fromMs);
        assert.ok(-lengthMs <= error && error <= lengthMs, "within one unit");
        sum += share;
      }
      assert.equal(sum, amount);
    }),
  );
});

test("a change of the plan that changes no price changes no total of flat prices", () => {
  fc.assert(
    fc.property(fc.array(amounts, { maxLength: 5 }), dividedPeriods, (flat, { period, parts }) => {
      const terms = termsOf(flat.map((amount, at) => ({ ...flatPrice, key: `p${at}`, amount })));
      const whole = totalOf(rateLines(period, [segmentOf(period, terms)], () => 0n));
      const divided = rateLines(
        period,
        parts.map((part) => segmentOf(part, terms)),
        () => 0n,
      );
      assert.equal(totalOf(divided), whole);
    }),
  );
});

test("more usage never costs less, except where a volume price reaches a cheaper tier", () => {
  fc.assert(
    fc.property(prices, units, units, (price, a, b) => {
      fc.pre(price.model !== "volume");
      const [less, more] = a < b ? [a, b] : [b, a];
      assert.ok(usageAmount(price, less) <= usageAmount(price, more));
    }),
  );
});

test("included units cost nothing, and usage beyond them costs what the same usage costs without them", () => {
  fc.assert(
    fc.property(prices, units, units, (price, included, beyond) => {
      fc.pre(price.model !== "flat");
      const period = { fromMs: 0, untilMs: 1000 };
      const lineFor = (quantity: bigint, free: bigint) =>
        rateLines(period, [segmentOf(period, termsOf([{ ...price, included: free }]))], () => quantity)[0]!.amount;
      assert.equal(lineFor(included, included), 0n);
      assert.equal(lineFor(included + beyond, included), lineFor(beyond, 0n));
    }),
  );
});

test("a graduated price with equal tiers costs what a price per unit costs, if nothing is rounded", () => {
  fc.assert(
    fc.property(amounts, tiersOf, units, (amount, tiers, quantity) => {
      const equal = tiers.map((tier) => ({ ...tier, amount, perUnits: 1n, flatAmount: 0n }));
      const graduated = usageAmount({ ...flatPrice, model: "graduated", tiers: equal }, quantity);
      assert.equal(graduated, usageAmount({ ...flatPrice, model: "per_unit", amount }, quantity));
    }),
  );
});

test("prices cost what their models say", () => {
  const tiers = [
    { upTo: 10n, amount: 100n, perUnits: 1n, flatAmount: 0n },
    { upTo: 0n, amount: 50n, perUnits: 1n, flatAmount: 7n },
  ];
  const cases: readonly [model: Price["model"], quantity: bigint, amount: bigint][] = [
    ["per_unit", 0n, 0n],
    ["per_unit", 999n, 5n],
    ["per_unit", 1000n, 5n],
    ["per_unit", 1100n, 6n],
    ["package", 1n, 5n],
    ["package", 1000n, 5n],
    ["package", 1001n, 10n],
    ["graduated", 10n, 1000n],
    ["graduated", 12n, 1107n],
    ["volume", 10n, 1000n],
    ["volume", 12n, 607n],
  ];
  for (const [model, quantity, amount] of cases) {
    const price: Price = { ...flatPrice, model, amount: 5n, perUnits: 1000n, tiers };
    assert.equal(usageAmount(price, quantity), amount, `${model} ${quantity}`);
  }
});

const flatPrice: Price = {
  ...{ key: "base", name: "Base", model: "flat", meterKey: "", amount: 0n, perUnits: 1n, included: 0n, tiers: [] },
};

function termsOf(drawn: readonly Price[]): PlanTerms {
  return { currency: "EUR", interval: "month", prices: drawn, entitlements: [], limits: {} };
}

function segmentOf(part: TimeRange, terms: PlanTerms): RatedSegment {
  return { ...part, planKey: "plan", planVersion: 1, terms };
}
