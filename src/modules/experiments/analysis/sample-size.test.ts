import assert from "node:assert/strict";
import { test } from "node:test";
import { type SampleSizeRequest, sampleSize } from "./index.ts";
import { simulateCanary } from "./testing/canary.ts";
import { simulatePeeking } from "./testing/peeking-simulation.ts";

const request: SampleSizeRequest = {
  alpha: 0.05,
  power: 0.8,
  control: "a",
  weights: { a: 50, b: 50 },
  metrics: [{ key: "conversion", type: "proportion", baseline: 0.1, minimumLift: 0.1 }],
  unitsPerDay: 1000,
  scoreWindowDays: 14,
};

test("a proportion needs about twice the units of a test with one look", () => {
  const { units, days, minimumUnits } = sampleSize(request);
  // A test with one look needs 29,500 units.
  assert.ok(units! > 50_000 && units! < 60_000, String(units));
  assert.equal(days, Math.ceil(units! / 1000 + 14));
  assert.equal(minimumUnits, 500);
});

test("the planned units find the smallest difference with the promised power", () => {
  const mean = { key: "x", type: "mean" as const, baseline: 1, standardDeviation: 1, minimumLift: 0.1 };
  const { units } = sampleSize({ ...request, metrics: [mean] });
  const { sequence } = simulatePeeking({
    type: "mean",
    draw: (random, isTreatment) => random.normal() + (isTreatment ? 1.1 : 1),
    treatmentShare: 0.5,
    units: units!,
    plannedUnits: units!,
    runs: 300,
    seed: 2,
  });
  assert.ok(sequence >= 0.8 && sequence < 0.95, String(sequence));
});

test("the planned units of a rare event find the smallest difference with the promised power", () => {
  const rare = { key: "errors", type: "rare_event" as const, baseline: 0.01, minimumLift: 2 };
  const { units } = sampleSize({ ...request, weights: { a: 95, b: 5 }, metrics: [rare] });
  const canary = { treatmentShare: 0.05, controlRate: 0.01, treatmentRate: 0.03, units: units!, runs: 500, seed: 2 };
  const { found } = simulateCanary(canary);
  assert.ok(found >= 0.78 && found < 0.95, `${found} with ${units} units`);
});

test("more metrics, more treatments and smaller arms need more units", () => {
  const { units } = sampleSize(request);
  const more = (change: Partial<SampleSizeRequest>) => sampleSize({ ...request, ...change }).units!;
  assert.ok(more({ metrics: [...request.metrics, { ...request.metrics[0]!, key: "other" }] }) > units!);
  assert.ok(more({ weights: { a: 50, b: 50, c: 50 } }) > units!);
  assert.ok(more({ weights: { a: 95, b: 5 } }) > units!);
  assert.ok(more({ power: 0.9 }) > units!);
  assert.ok(more({ alpha: 0.01 }) > units!);
});

test("the metric that needs most decides", () => {
  const small = { key: "small", type: "proportion" as const, baseline: 0.1, minimumLift: 0.05 };
  const { units, metrics } = sampleSize({ ...request, metrics: [...request.metrics, small] });
  assert.equal(units, Math.max(...metrics.map((metric) => metric.units!)));
  assert.deepEqual(
    metrics.map(({ key }) => key),
    ["conversion", "small"],
  );
});

test("what the draft does not say makes the size unknown, not wrong", () => {
  const unknown = (metric: object) => sampleSize({ ...request, metrics: [{ ...request.metrics[0]!, ...metric }] });
  assert.equal(unknown({ baseline: undefined }).units, null);
  assert.equal(unknown({ minimumLift: undefined }).units, null);
  assert.equal(unknown({ minimumLift: 0 }).units, null);
  assert.equal(unknown({ minimumLift: 10 }).units, null);
  assert.equal(unknown({ type: "mean" }).units, null);
  assert.deepEqual(unknown({ minimumLift: undefined }).minimumUnits, 500);
  const { units, days } = sampleSize({ ...request, unitsPerDay: undefined });
  assert.ok(units! > 0);
  assert.equal(days, null);
});

test("a single variant and an experiment without success metrics need no units", () => {
  assert.equal(sampleSize({ ...request, weights: { a: 1 } }).units, null);
  assert.equal(sampleSize({ ...request, metrics: [] }).units, null);
});
