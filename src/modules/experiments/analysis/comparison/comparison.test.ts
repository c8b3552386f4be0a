import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "../analysis.ts";
import type { Interval, MetricComparison, PhaseSummary } from "../analysis-result.ts";
import { addToMoments, emptyMoments, type MetricMoments, type UnitValue } from "../moments.ts";
import type { AnalysisPlan, MetricPlan } from "../plan.ts";
import { createSeededRandom } from "../testing/seeded-random.ts";

function metric(overrides: Partial<MetricPlan> = {}): MetricPlan {
  return { key: "metric", type: "mean", role: "success", direction: "increase", margin: 0, ...overrides };
}

function plan(overrides: Partial<AnalysisPlan> = {}): AnalysisPlan {
  return { alpha: 0.05, plannedUnits: 5000, control: "a", variants: ["a", "b"], metrics: [metric()], ...overrides };
}

function momentsOf(units: readonly UnitValue[]): MetricMoments {
  const moments = emptyMoments();
  for (const unit of units) addToMoments(moments, unit);
  return moments;
}

function phase(a: MetricMoments, b: MetricMoments, weights: Record<string, number> = { a: 1, b: 1 }): PhaseSummary {
  const arm = (variant: string, moments: MetricMoments) => ({
    variant,
    units: moments.n,
    mature: moments.n,
    metrics: { metric: moments },
  });
  return { weights, arms: [arm("a", a), arm("b", b)] };
}

function compare(metricPlan: MetricPlan, ...phases: PhaseSummary[]): MetricComparison {
  return analyse(plan({ metrics: [metricPlan] }), phases).variants[1]!.comparisons[0]!;
}

function events(n: number, count: number): MetricMoments {
  return momentsOf(Array.from({ length: n }, (_, i) => ({ value: i < count ? 1 : 0 })));
}

function assertClose(actual: number | null, expected: number, tolerance = 1e-9): void {
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

const random = createSeededRandom(5);
const correlated = (n: number, shift: number): UnitValue[] =>
  Array.from({ length: n }, () => {
    const covariate = 10 + 3 * random.normal();
    return {
      value: 5 + shift + 2 * covariate + random.normal(),
      covariate: random.unit() < 0.2 ? undefined : covariate,
    };
  });

test("a proportion is shown from 25 events and 25 non-events in each arm", () => {
  const proportion = metric({ type: "proportion" });
  assert.deepEqual(compare(proportion, phase(events(1000, 400), events(1000, 24))).needs, {
    units: 0,
    events: 1,
    nonEvents: 0,
  });
  assert.deepEqual(compare(proportion, phase(events(40, 20), events(1000, 300))).needs, {
    units: 0,
    events: 5,
    nonEvents: 5,
  });
  const open = compare(proportion, phase(events(1000, 400), events(1000, 25)));
  assert.equal(open.state, "worse");
  assert.equal(open.needs, null);
});

test("means need more units in a small arm than in arms of equal size", () => {
  const values = (n: number) => momentsOf(Array.from({ length: n }, () => ({ value: 1 + random.unit() })));
  assert.equal(compare(metric(), phase(values(25), values(24))).needs?.units, 1);
  assert.equal(compare(metric(), phase(values(25), values(25))).state, "inconclusive");
  assert.equal(compare(metric(), phase(values(1900), values(100), { a: 95, b: 5 })).needs?.units, 310);
  assert.equal(compare(metric(), phase(values(9500), values(410), { a: 95, b: 5 })).state, "inconclusive");
});

test("values that are all equal are not compared", () => {
  const constant = momentsOf(Array.from({ length: 100 }, () => ({ value: 7 })));
  const comparison = compare(metric(), phase(constant, constant));
  assert.equal(comparison.state, "insufficient");
  assert.deepEqual(comparison.notes, ["no_variance"]);
});

test("a covariate gives the result of adjusting every unit, with missing covariates at their mean", () => {
  const [a, b] = [correlated(400, 0), correlated(500, 0.5)];
  const known = [...a, ...b].flatMap(({ covariate }) => (covariate === undefined ? [] : [covariate]));
  const centre = known.reduce((sum, x) => sum + x, 0) / known.length;
  const complete = (units: UnitValue[]) => units.map(({ value, covariate }) => ({ y: value, x: covariate ?? centre }));
  const mean = (numbers: number[]) => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  let [product, squares] = [0, 0];
  for (const arm of [complete(a), complete(b)]) {
    const [meanX, meanY] = [mean(arm.map(({ x }) => x)), mean(arm.map(({ y }) => y))];
    for (const { x, y } of arm) {
      product += (x - meanX) * (y - meanY);
      squares += (x - meanX) ** 2;
    }
  }
  const slope = product / squares;
  const adjusted = (units: UnitValue[]) =>
    momentsOf(complete(units).map(({ x, y }) => ({ value: y - slope * (x - centre) })));

  const actual = compare(metric(), phase(momentsOf(a), momentsOf(b)));
  const expected = compare(metric(), phase(adjusted(a), adjusted(b)));
  assert.deepEqual(actual.notes, ["covariate_used"]);
  assertClose(actual.difference, expected.difference!);
  assertClose(actual.interval!.lower, expected.interval!.lower);
  assertClose(actual.interval!.upper, expected.interval!.upper);
  assertClose(actual.liftInterval!.upper, expected.liftInterval!.upper);
  assertClose(actual.p, expected.p!);

  const without = (units: UnitValue[]) => momentsOf(units.map(({ value }) => ({ value })));
  const plain = compare(metric(), phase(without(a), without(b)));
  const width = ({ interval }: MetricComparison) => interval!.upper - interval!.lower;
  assert.ok(width(actual) < width(plain) / 1.5, `${width(actual)} is not much narrower than ${width(plain)}`);
});

test("a ratio has the variance of its linearised values", () => {
  const draw = (n: number) =>
    Array.from({ length: n }, () => {
      const denominator = 1 + Math.floor(5 * random.unit());
      return { value: denominator * (0.3 + 0.1 * random.normal()), denominator };
    });
  const [a, b] = [draw(300), draw(300)];
  const linearised = (units: { value: number; denominator: number }[]) => {
    const { mean, denominatorMean } = momentsOf(units);
    const ratio = mean / denominatorMean;
    return momentsOf(
      units.map(({ value, denominator }) => ({ value: ratio + (value - ratio * denominator) / denominatorMean })),
    );
  };
  const actual = compare(metric({ type: "ratio" }), phase(momentsOf(a), momentsOf(b)));
  const expected = compare(metric(), phase(linearised(a), linearised(b)));
  assertClose(actual.difference, expected.difference!);
  assertClose(actual.interval!.lower, expected.interval!.lower);
});

test("a lift is withheld while the mean of the control may be 0", () => {
  const around = (centre: number) =>
    momentsOf(Array.from({ length: 200 }, () => ({ value: centre + random.normal() })));
  const withheld = compare(metric(), phase(around(0.1), around(3)));
  assert.deepEqual([withheld.lift, withheld.liftInterval], [null, null]);
  assert.deepEqual(withheld.notes, ["control_may_be_zero"]);
  assert.equal(withheld.state, "better");
  const shown = compare(metric(), phase(around(2), around(3)));
  assertClose(shown.lift, 0.5, 0.15);
  const belowZero = compare(metric(), phase(around(-2), around(-1)));
  assertClose(belowZero.lift, 0.5, 0.15);
});

test("phases with other weights and other means do not create a difference", () => {
  const around = (n: number, centre: number) =>
    momentsOf(Array.from({ length: n }, (_, i) => ({ value: centre + ((i % 2) - 0.5) })));
  const first = phase(around(5000, 1), around(5000, 1));
  const second = phase(around(9000, 3), around(1000, 3), { a: 9, b: 1 });
  const stratified = compare(metric(), first, second);
  assertClose(stratified.difference, 0);
  assert.equal(stratified.n, 20_000);
  const pooled = phase(
    momentsOf(
      [...Array(5000)]
        .map((_, i) => ({ value: 0.5 + (i % 2) }))
        .concat([...Array(9000)].map((_, i) => ({ value: 2.5 + (i % 2) }))),
    ),
    momentsOf(
      [...Array(5000)]
        .map((_, i) => ({ value: 0.5 + (i % 2) }))
        .concat([...Array(1000)].map((_, i) => ({ value: 2.5 + (i % 2) }))),
    ),
  );
  assert.equal(compare(metric(), pooled).state, "worse");
});

test("a phase with too few units is left out until it has enough", () => {
  const values = (n: number) => momentsOf(Array.from({ length: n }, () => ({ value: 1 + random.unit() })));
  const comparison = compare(metric(), phase(values(300), values(300)), phase(values(30), values(3)));
  assert.equal(comparison.n, 600);
  assert.deepEqual(comparison.notes, ["phase_left_out"]);
});

test("one phase that is split into two of the same weights has nearly the same interval", () => {
  const draw = (n: number) => Array.from({ length: n }, () => ({ value: 1 + random.normal() }));
  const [a, b] = [draw(4000), draw(4000)];
  const whole = compare(metric(), phase(momentsOf(a), momentsOf(b)));
  const split = compare(
    metric(),
    phase(momentsOf(a.slice(0, 1500)), momentsOf(b.slice(0, 1500))),
    phase(momentsOf(a.slice(1500)), momentsOf(b.slice(1500))),
  );
  assertClose(split.difference, whole.difference!, 1e-9);
  assertClose(split.interval!.lower, whole.interval!.lower, 1e-3);
});

test("a rare event is compared exactly, as a relative rate", () => {
  const rare = metric({ type: "rare_event", direction: "decrease", role: "guardrail", margin: 0.5 });
  const weights = { a: 95, b: 5 };
  const tripled = compare(rare, phase(events(9500, 95), events(500, 25), weights));
  assert.equal(tripled.state, "worse");
  assertClose(tripled.lift, 4, 1e-6);
  assert.ok(tripled.liftInterval!.lower > 0);
  assert.deepEqual([tripled.difference, tripled.interval], [null, null]);
  const same = compare(rare, phase(events(9500, 95), events(500, 5), weights));
  assert.equal(same.state, "inconclusive");
  assert.equal(same.withinMargin, false);
  assert.equal(compare(rare, phase(events(9500, 0), events(500, 0), weights)).state, "insufficient");
  const onlyTreatment = compare(rare, phase(events(9500, 0), events(500, 9), weights));
  assert.equal(onlyTreatment.state, "worse");
  assert.deepEqual([onlyTreatment.lift, onlyTreatment.liftInterval], [null, null]);
  assert.deepEqual(onlyTreatment.notes, ["interval_unbounded"]);
});

test("the interval that is shown decides: of the difference, of the lift and of a rare event", () => {
  const around = (centre: number, spread: number) =>
    momentsOf(Array.from({ length: 60 }, () => ({ value: centre + spread * random.normal() })));
  const side = ({ lower, upper }: Interval) => (lower > 0 ? 1 : upper < 0 ? -1 : 0);
  let decided = 0;
  for (let shift = -20; shift <= 20; shift++) {
    for (const level of [10, -10]) {
      const { state, interval, liftInterval, lift } = compare(
        metric(),
        phase(around(level, 6), around(level + shift, 12)),
      );
      const expected = { better: 1, inconclusive: 0, worse: -1 }[state as "better"];
      assert.equal(side(interval!), expected);
      if (liftInterval === null) continue;
      assert.equal(side(liftInterval), expected, `${state}: ${JSON.stringify(liftInterval)}`);
      assert.ok(liftInterval.lower < lift! && lift! < liftInterval.upper);
      if (expected !== 0) decided++;
    }
    const rare = compare(metric({ type: "rare_event" }), phase(events(500, 30), events(500, 30 + shift)));
    assert.equal(side(rare.liftInterval!), { better: 1, inconclusive: 0, worse: -1 }[rare.state as "better"]);
  }
  assert.ok(decided > 30, `${decided} decided comparisons`);
});

test("alpha is shared by success metrics and treatments, and whole for guardrails", () => {
  const metrics = [metric({ key: "x" }), metric({ key: "y" }), metric({ key: "z", role: "guardrail" })];
  const { variants } = analyse(plan({ variants: ["a", "b", "c"], metrics }), []);
  assert.deepEqual(
    variants[1]!.comparisons.map(({ alpha }) => alpha),
    [0.0125, 0.0125, 0.05],
  );
});
