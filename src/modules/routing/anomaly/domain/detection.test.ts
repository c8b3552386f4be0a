import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { Finding } from "./anomaly.ts";
import { type DetectionConfig, detect } from "./detection.ts";
import { baselineWindows, emptyWindow, recentWindows, type Sums, type Window, windowsNeeded } from "./window.ts";

const config: DetectionConfig = {
  methods: ["zscore", "iqr", "rate_change", "pattern"],
  zscoreThreshold: 3,
  iqrMultiplier: 1.5,
  rateChangeDrop: 0.5,
  samplesMin: 30,
};
const only = (...methods: DetectionConfig["methods"]): DetectionConfig => ({ ...config, methods });

/** Sums of `count` values with the given mean and sum of squared deviations. */
const sums = (mean: number, count: number, scatter = 0): Sums => ({
  count,
  sum: mean * count,
  squares: mean ** 2 * count + scatter,
});
/** A window of outcomes with the given mean latency. */
const taking = (latencyMs: number, count = 10, scatter = 0): Window => ({
  ...emptyWindow,
  total: count,
  successes: count,
  latency: sums(latencyMs, count, scatter),
});
const costing = (cost: number): Window => ({ ...emptyWindow, total: 10, successes: 10, cost: sums(cost, 10) });
const rated = (successes: number, failures: number, more: Partial<Window> = {}): Window => ({
  ...emptyWindow,
  total: successes + failures,
  successes,
  failures,
  ...more,
});
const repeated = (window: Window, times = baselineWindows) => Array<Window>(times).fill(window);
const found = (windows: readonly Window[], settings = config, scope: "recipient" | "pool" = "recipient") =>
  detect(windows, settings, scope).map(({ method, metric }) => `${method} ${metric}`);

// A mean of 100 and a standard deviation of 10 * sqrt(24 / 23).
const around100 = repeated(taking(90), 12).concat(repeated(taking(110), 12));

test("latency is anomalous beyond the z-score threshold and not just within it", () => {
  const spread = 10 * Math.sqrt(24 / 23);
  const [finding] = detect(
    [...around100, taking(200), taking(100), taking(100 + 3.01 * spread)],
    only("zscore"),
    "pool",
  );
  assert.deepEqual([finding!.method, finding!.metric], ["zscore", "latency_ms"]);
  assert.deepEqual([finding!.value, finding!.baseline].map(Math.round), [131, 100]);
  assert.ok(Math.abs(finding!.threshold - (100 + 3 * spread)) < 1e-9);
  const within = taking(100 + 2.99 * spread);
  assert.deepEqual(found([...around100, within, within, within], only("zscore")), []);
});

test("latency is anomalous beyond the configured interquartile ranges above the upper quartile", () => {
  const [finding] = detect([...around100, taking(141), taking(141), taking(110)], only("iqr"), "recipient");
  assert.deepEqual([finding!.value, finding!.baseline, finding!.threshold], [141, 100, 140]);
  assert.deepEqual(found([...around100, taking(139), taking(139), taking(139)], only("iqr")), []);
});

test("two of the last three windows must be anomalous", () => {
  const votes = (...pattern: boolean[]) =>
    found([...around100, ...pattern.map((bad) => taking(bad ? 500 : 100))], only("zscore"));
  for (const [a, b, c] of [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [4, 2, 1].map((bit) => (bits & bit) > 0)))
    assert.equal(votes(a!, b!, c!).length, Number(Number(a) + Number(b) + Number(c) >= 2), `${a} ${b} ${c}`);
});

test("a change of constant values is anomalous, unless it is below one percent", () => {
  const steady = repeated(costing(0.1));
  assert.deepEqual(found([...steady, costing(0.2), costing(0.2), costing(0.2)], only("zscore", "iqr")), [
    "zscore cost",
    "iqr cost",
  ]);
  assert.deepEqual(found([...steady, costing(0.101), costing(0.101), costing(0.101)], only("zscore", "iqr")), []);
  const free = repeated(costing(0));
  assert.deepEqual(found([...free, costing(0), costing(0.01), costing(0.01)], only("zscore")), ["zscore cost"]);
});

test("an improvement is not a finding", () => {
  assert.deepEqual(found([...around100, ...repeated(taking(1), 3)]), []);
  assert.deepEqual(found([...repeated(costing(9)), ...repeated(costing(0.01), 3)]), []);
  assert.deepEqual(found([...repeated(rated(10, 10)), ...repeated(rated(20, 0), 3)]), []);
});

test("fewer samples than the minimum give no finding", () => {
  const usual = (count: number, windows: number) => [
    ...repeated(taking(100, count), windows),
    ...repeated(taking(900, 6), 3),
  ];
  assert.deepEqual(found(usual(4, 24)), []);
  assert.deepEqual(found(usual(5, 24)), ["zscore latency_ms", "iqr latency_ms"]);
  // Enough outcomes, but in too few windows to estimate their variance.
  assert.deepEqual(found(usual(100, 7)), []);
  assert.deepEqual(found(usual(100, 8)), ["zscore latency_ms", "iqr latency_ms"]);
  const failing = (count: number) => found([rated(count, 0), ...repeated(rated(0, 9, { failureRun: 9 }), 3)]);
  assert.deepEqual(failing(29), []);
  assert.deepEqual(failing(30), ["rate_change success_rate", "pattern failure_run"]);
  // Recent windows with too few outcomes.
  assert.deepEqual(found([...repeated(taking(100)), ...repeated(taking(900, 4), 3)]), []);
  assert.deepEqual(found([]), []);
  assert.deepEqual(found(repeated(emptyWindow, 27), config, "pool"), []);
});

test("a success rate that drops by half is anomalous, and a smaller drop is not", () => {
  const usual = repeated(rated(18, 2));
  const cases: [successes: number, failures: number, expected: string[]][] = [
    [9, 11, ["rate_change success_rate"]],
    [10, 10, []],
    [20, 0, []],
    [0, 20, ["rate_change success_rate"]],
  ];
  for (const [successes, failures, expected] of cases)
    assert.deepEqual(found([...usual, ...repeated(rated(successes, failures), 3)], only("rate_change")), expected);
  const [finding] = detect([...usual, ...repeated(rated(5, 15), 3)], only("rate_change"), "recipient");
  assert.deepEqual([finding!.value, finding!.baseline, finding!.threshold], [0.25, 0.9, 0.45]);
});

test("one or two failures after none are insignificant, and many are not", () => {
  const perfect = repeated(rated(20, 0));
  assert.deepEqual(found([...perfect, ...repeated(rated(18, 2), 3)], only("zscore", "iqr")), []);
  assert.deepEqual(found([...perfect, ...repeated(rated(10, 10), 3)], only("zscore", "iqr")), [
    "zscore success_rate",
    "iqr success_rate",
  ]);
});

test("half of a rate is insignificant with few outcomes", () => {
  const usual = repeated(rated(10, 10));
  assert.deepEqual(found([...usual, ...repeated(rated(5, 15), 3)], only("rate_change")), []);
  assert.deepEqual(found([...usual, ...repeated(rated(3, 17), 3)], only("rate_change")), ["rate_change success_rate"]);
});

test("a rate within its random variation is not anomalous", () => {
  // All windows of 20 outcomes have a rate of 0.8 by luck; 0.6 is within the random variation of 20 outcomes.
  const lucky = repeated(rated(16, 4));
  assert.deepEqual(found([...lucky, ...repeated(rated(12, 8), 3)], only("zscore")), []);
  assert.deepEqual(found([...lucky, ...repeated(rated(8, 12), 3)], only("zscore")), ["zscore success_rate"]);
});

test("a pool with less than half of its throughput is anomalous; recipients are not checked for throughput", () => {
  const usual = repeated(rated(100, 0));
  const less = (count: number) => [...usual, ...repeated(rated(count, 0), 3)];
  assert.deepEqual(found(less(50), only("rate_change"), "pool"), ["rate_change throughput"]);
  assert.deepEqual(found(less(51), only("rate_change"), "pool"), []);
  assert.deepEqual(found(less(10), only("rate_change"), "recipient"), []);
  assert.deepEqual(found([...usual, ...repeated(emptyWindow, 3)], only("rate_change"), "pool"), [
    "rate_change throughput",
  ]);
  // Half of a small count is insignificant.
  assert.deepEqual(found([...repeated(rated(10, 0)), ...repeated(rated(4, 0), 3)], only("rate_change"), "pool"), []);
});

test("a failure run is anomalous if it is improbable at the baseline failure rate", () => {
  const runs = (usual: Window, failureRun: number) =>
    found([...repeated(usual), ...repeated(rated(0, failureRun, { failureRun }), 3)], only("pattern"));
  // At a failure rate of 1 % or less: 5 in a row. At 50 %: 0.5 to the 14th is 1 in 16,384.
  assert.deepEqual([runs(rated(20, 0), 4), runs(rated(20, 0), 5)], [[], ["pattern failure_run"]]);
  assert.deepEqual([runs(rated(10, 10), 13), runs(rated(10, 10), 14)], [[], ["pattern failure_run"]]);
  assert.deepEqual(
    found([...repeated(rated(20, 0)), ...repeated(rated(0, 9, { failureRun: 9 }), 3)], only("pattern"), "pool"),
    [],
  );
});

test("alternating success and failure is anomalous unless the baseline alternates too", () => {
  const turns = (count: number, flips: number) =>
    rated(Math.ceil(count / 2), Math.floor(count / 2), { flips, failureRun: 1 });
  const calm = repeated(rated(18, 2, { flips: 4, failureRun: 1 }));
  assert.deepEqual(found([...calm, ...repeated(turns(20, 19), 3)], only("pattern")), ["pattern alternation"]);
  assert.deepEqual(found([...calm, ...repeated(turns(20, 17), 3)], only("pattern")), []);
  assert.deepEqual(found([...calm, ...repeated(turns(14, 13), 3)], only("pattern")), []);
  assert.deepEqual(found([...repeated(turns(20, 19)), ...repeated(turns(20, 19), 3)], only("pattern")), []);
});

test("findings are in the order of the configured methods, and only of these", () => {
  const bad = [...around100, ...repeated({ ...taking(900), successes: 0, failures: 10, failureRun: 10 }, 3)];
  assert.deepEqual(found(bad, only("pattern", "iqr")), ["pattern failure_run", "iqr latency_ms", "iqr success_rate"]);
  assert.deepEqual(found(bad, only()), []);
});

test("a mean within its random variation is not anomalous", () => {
  // Ten outcomes with a deviation of 100: their mean has a deviation of 32.
  const scatter = 9 * 100 ** 2;
  const lucky = repeated(taking(500, 10, scatter));
  assert.deepEqual(found([...lucky, ...repeated(taking(580, 10, scatter), 3)], only("zscore")), []);
  assert.deepEqual(found([...lucky, ...repeated(taking(600, 10, scatter), 3)], only("zscore")), ["zscore latency_ms"]);
  assert.deepEqual(found([...lucky, ...repeated(taking(550, 10, scatter), 3)], only("iqr")), []);
  assert.deepEqual(found([...lucky, ...repeated(taking(600, 10, scatter), 3)], only("iqr")), ["iqr latency_ms"]);
});

/** Textbook formulas of the z-score and the quartile fences of latency, for windows of equal size. */
function reference(
  latencies: readonly number[],
  count: number,
  scatter: number,
  method: "zscore" | "iqr",
): Omit<Finding, "method" | "metric"> | undefined {
  const usual = latencies.slice(0, baselineWindows).sort((a, b) => a - b);
  const average = usual.reduce((a, b) => a + b) / 24;
  const middle = (usual[11]! + usual[12]!) / 2;
  const deviation = Math.sqrt(usual.reduce((sum, each) => sum + (each - average) ** 2, 0) / 23);
  const low = usual[5]! + 0.75 * (usual[6]! - usual[5]!);
  const high = usual[17]! + 0.25 * (usual[18]! - usual[17]!);
  const ofMean = Math.sqrt(scatter / (count - 1) / count);
  const least = Math.max(ofMean, middle / 100);
  const threshold =
    method === "zscore" ? average + 3 * Math.max(deviation, least) : high + 1.5 * Math.max(high - low, 1.349 * least);
  const out = latencies.slice(-recentWindows).filter((each) => each > threshold);
  if (out.length < 2) return undefined;
  return { value: out.at(-1)!, baseline: method === "zscore" ? average : middle, threshold };
}

test("z-score and quartile fences agree with their textbook forms on any latencies", () => {
  const latency = fc.oneof(fc.integer({ min: 50, max: 150 }), fc.integer({ min: 1, max: 2000 }));
  const latencies = fc
    .array(latency, { minLength: windowsNeeded, maxLength: windowsNeeded })
    // Constant baselines have a separate rule.
    .filter((all) => new Set(all.slice(0, baselineWindows)).size > 1);
  const count = fc.integer({ min: 5, max: 50 });
  fc.assert(
    fc.property(latencies, count, fc.nat(1_000_000), fc.constantFrom("zscore", "iqr"), (given, n, scatter, method) => {
      const windows = given.map((each) => taking(each, n, scatter));
      const [actual] = detect(windows, only(method), "recipient");
      const expected = reference(given, n, scatter, method);
      assert.equal(actual === undefined, expected === undefined);
      if (actual === undefined || expected === undefined) return;
      for (const part of ["value", "baseline", "threshold"] as const)
        assert.ok(Math.abs(actual[part] - expected[part]) < 1e-6, part);
    }),
    { numRuns: 2000 },
  );
});

test("scaling all latencies changes no verdict", () => {
  const windows = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: windowsNeeded, maxLength: windowsNeeded });
  fc.assert(
    fc.property(windows, (latencies) => {
      const verdict = (factor: number) =>
        found(
          latencies.map((each) => taking(each * factor)),
          only("zscore", "iqr"),
        );
      assert.deepEqual(verdict(8), verdict(1));
    }),
  );
});
