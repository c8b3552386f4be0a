import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "../analysis.ts";
import type { Analysis, PhaseSummary, Verdict } from "../analysis-result.ts";
import { emptyMoments, type MetricMoments } from "../moments.ts";
import type { AnalysisPlan, MetricPlan } from "../plan.ts";

const conversion: MetricPlan = {
  key: "conversion",
  type: "proportion",
  role: "success",
  direction: "increase",
  margin: 0,
};
const latency: MetricPlan = { key: "latency", type: "mean", role: "guardrail", direction: "decrease", margin: 5 };
const latencySuccess: MetricPlan = { ...latency, role: "success" };
const errors: MetricPlan = { key: "errors", type: "rare_event", role: "guardrail", direction: "decrease", margin: 1 };

function events(n: number, rate: number): MetricMoments {
  return { ...emptyMoments(), n, mean: rate, m2: n * rate * (1 - rate), nonZero: Math.round(n * rate) };
}

function values(n: number, mean: number, standardDeviation = 10): MetricMoments {
  return { ...emptyMoments(), n, mean, m2: (n - 1) * standardDeviation ** 2, nonZero: n };
}

type Arms = Record<string, Record<string, MetricMoments>>;

function analyseArms(metrics: MetricPlan[], arms: Arms, plannedUnits = 10_000): Analysis {
  const variants = Object.keys(arms);
  const plan: AnalysisPlan = { alpha: 0.05, plannedUnits, control: variants[0]!, variants, metrics };
  const phase: PhaseSummary = {
    weights: Object.fromEntries(variants.map((variant) => [variant, 1])),
    arms: variants.map((variant) => {
      const units = Math.max(0, ...Object.values(arms[variant]!).map(({ n }) => n));
      return { variant, units, mature: units, metrics: arms[variant]! };
    }),
  };
  return analyse(plan, [phase]);
}

const cases: { name: string; metrics: MetricPlan[]; arms: Arms; verdict: Verdict; sentence: string }[] = [
  {
    name: "a success metric that is better makes a winner",
    metrics: [conversion],
    arms: { old: { conversion: events(5000, 0.1) }, new: { conversion: events(5000, 0.14) } },
    verdict: "winner",
    sentence: 'Ship "new": conversion is 40 % higher (18.7 % to 66.1 % higher).',
  },
  {
    name: "a guardrail within its margin lets a treatment win",
    metrics: [conversion, latency],
    arms: {
      old: { conversion: events(5000, 0.1), latency: values(5000, 100) },
      new: { conversion: events(5000, 0.14), latency: values(5000, 101) },
    },
    verdict: "winner",
    sentence:
      'Ship "new": conversion is 40 % higher (18.7 % to 66.1 % higher), and every guardrail is within its margin.',
  },
  {
    name: "a guardrail that is worse within its margin is what the margin allows",
    metrics: [conversion, latency],
    arms: {
      old: { conversion: events(5000, 0.1), latency: values(5000, 100) },
      new: { conversion: events(5000, 0.14), latency: values(5000, 102) },
    },
    verdict: "winner",
    sentence:
      'Ship "new": conversion is 40 % higher (18.7 % to 66.1 % higher), and every guardrail is within its margin.',
  },
  {
    name: "a guardrail that is worse beyond its margin makes a loser of a better treatment",
    metrics: [conversion, latency],
    arms: {
      old: { conversion: events(5000, 0.1), latency: values(5000, 100) },
      new: { conversion: events(5000, 0.14), latency: values(5000, 110) },
    },
    verdict: "loser",
    sentence: 'Keep the control: with "new", latency is 10 % higher (9.36 % to 10.6 % higher).',
  },
  {
    name: "a guardrail that is not yet known to be within its margin keeps a better treatment running",
    metrics: [conversion, latency],
    arms: {
      old: { conversion: events(5000, 0.1), latency: values(5000, 100, 100) },
      new: { conversion: events(5000, 0.14), latency: values(5000, 101, 100) },
    },
    verdict: "inconclusive",
    sentence:
      'Keep running: with "new", conversion is 40 % higher (18.7 % to 66.1 % higher), but latency may still be worse than the margin allows.',
  },
  {
    name: "a success metric that is worse makes a loser",
    metrics: [conversion],
    arms: { old: { conversion: events(5000, 0.14) }, new: { conversion: events(5000, 0.1) } },
    verdict: "loser",
    sentence: 'Keep the control: with "new", conversion is 28.6 % lower (15.7 % to 39.8 % lower).',
  },
  {
    name: "no clear difference before the planned units means to go on",
    metrics: [conversion],
    arms: { old: { conversion: events(2000, 0.1) }, new: { conversion: events(2000, 0.105) } },
    verdict: "inconclusive",
    sentence: "Keep running: no success metric is clearly better or worse yet, after 4,000 of 10,000 planned units.",
  },
  {
    name: "no clear difference after the planned units means to stop",
    metrics: [conversion],
    arms: { old: { conversion: events(6000, 0.1) }, new: { conversion: events(6000, 0.1) } },
    verdict: "inconclusive",
    sentence:
      'Stop without a winner, or run longer for a smaller difference: after all 10,000 planned units, conversion of "new" is between 15.4 % lower and 18.2 % higher.',
  },
  {
    name: "too few events are insufficient",
    metrics: [conversion],
    arms: { old: { conversion: events(100, 0.2) }, new: { conversion: events(100, 0.13) } },
    verdict: "insufficient",
    sentence: "Wait for more data: conversion needs 12 more events per variant.",
  },
  {
    name: "a guardrail without data is insufficient, even when a success metric is better",
    metrics: [conversion, latency],
    arms: {
      old: { conversion: events(5000, 0.1), latency: values(5000, 100) },
      new: { conversion: events(5000, 0.14), latency: emptyMoments() },
    },
    verdict: "insufficient",
    sentence: "Wait for more data: latency needs 25 more units with a value other than 0 per variant.",
  },
  {
    name: "a metric with equal values only is insufficient",
    metrics: [latencySuccess],
    arms: { old: { latency: values(500, 100, 0) }, new: { latency: values(500, 100, 0) } },
    verdict: "insufficient",
    sentence: "Wait for more data: latency has only equal values yet.",
  },
  {
    name: "a rare event that never occurred is insufficient",
    metrics: [errors],
    arms: { old: { errors: events(500, 0) }, new: { errors: events(500, 0) } },
    verdict: "insufficient",
    sentence: "Wait for more data: errors has no events yet.",
  },
  {
    name: "a rare event that occurs only with the treatment makes a loser",
    metrics: [errors],
    arms: { old: { errors: events(500, 0) }, new: { errors: events(500, 0.1) } },
    verdict: "loser",
    sentence: 'Keep the control: with "new", errors occurred only with this variant.',
  },
  {
    name: "arms of the wrong size are invalid, whatever the metrics say",
    metrics: [conversion],
    arms: { old: { conversion: events(6000, 0.1) }, new: { conversion: events(5000, 0.14) } },
    verdict: "invalid",
    sentence:
      'Do not use these results: "old" has 6,000 units instead of 5,500 and "new" has 5,000 units instead of 5,500. Find out where units get lost, then start a new experiment.',
  },
  {
    name: "the treatment with the greatest improvement wins among several",
    metrics: [conversion],
    arms: {
      old: { conversion: events(5000, 0.1) },
      good: { conversion: events(5000, 0.15) },
      better: { conversion: events(5000, 0.17) },
      bad: { conversion: events(5000, 0.05) },
    },
    verdict: "winner",
    sentence: 'Ship "better": conversion is 70 % higher (42.4 % to 105 % higher).',
  },
  {
    name: "only guardrails: nothing can win",
    metrics: [latency],
    arms: { old: { latency: values(5000, 100) }, new: { latency: values(5000, 100) } },
    verdict: "inconclusive",
    sentence: "No harm found: every guardrail is within its margin. Without a success metric, nothing can win.",
  },
  {
    name: "one variant has nothing to compare",
    metrics: [conversion],
    arms: { on: { conversion: events(5000, 0.1) } },
    verdict: "inconclusive",
    sentence: "There is nothing to compare: the experiment has one variant.",
  },
];

for (const { name, metrics, arms, verdict, sentence } of cases) {
  test(name, () => {
    const analysis = analyseArms(metrics, arms);
    assert.deepEqual({ verdict: analysis.verdict, sentence: analysis.sentence }, { verdict, sentence });
    assert.equal(analysis.winner !== null, verdict === "winner");
  });
}

test("an experiment without units is insufficient, and all its numbers can be written as JSON", () => {
  const plan = { alpha: 0.05, plannedUnits: 100, control: "a", variants: ["a", "b"], metrics: [conversion, latency] };
  const analysis = analyse(plan, []);
  assert.equal(analysis.verdict, "insufficient");
  assert.deepEqual(JSON.parse(JSON.stringify(analysis)), analysis);
});

test("units without a score are counted as missing", () => {
  const plan = { alpha: 0.05, plannedUnits: 100, control: "a", variants: ["a", "b"], metrics: [latency] };
  const arm = (variant: string, n: number) => ({
    variant,
    units: 200,
    mature: 150,
    metrics: { latency: values(n, 5) },
  });
  const { variants } = analyse(plan, [{ weights: { a: 1, b: 1 }, arms: [arm("a", 150), arm("b", 140)] }]);
  assert.deepEqual(
    variants.map(({ units, mature, metrics }) => [units, mature, metrics[0]!.missing]),
    [
      [200, 150, 0],
      [200, 150, 10],
    ],
  );
  assert.ok(variants[1]!.comparisons[0]!.notes.includes("unscored_left_out"));
});
