/**
 * Tests of guardrails and canaries: a metric against a limit, and a canary against its baseline. They are always valid, so
 * that it does not matter how often somebody looks.
 */
import { estimateArm, gate, meanGate } from "./comparison/arm-estimate.ts";
import type { MetricMoments } from "./moments.ts";
import { alwaysValidP, createSequence } from "./significance/confidence-sequence.ts";
import { equalRatesP, eventConcentration, logBayesFactor, pOfLogBayesFactor } from "./significance/exact-test.ts";

/** better and worse are significant; otherwise it is undecided. */
export interface GuardrailTest {
  readonly result: "better" | "worse" | "undecided";
  /** Always-valid p-value; null if there is not enough to compute one. */
  readonly p: number | null;
}

/** How many of some keys failed. */
export interface FailureCount {
  readonly failures: number;
  readonly keys: number;
}

/** The error probability of every test. */
const alpha = 0.05;

/** Where the confidence sequences are narrowest. It is fixed, because choosing it from the data would void the tests. */
const plannedKeys = 1000;

const undecided: GuardrailTest = { result: "undecided", p: null };

/** Whether the share of failures is below or above a limit: an exact test, which works for rare failures too. */
export function testFailureShare(failures: number, keys: number, limit: number): GuardrailTest {
  // The limits 0 and 1 are no hypotheses: a single failure exceeds the first, and nothing exceeds the second.
  if (limit <= 0) return failures > 0 ? { result: "worse", p: 0 } : undecided;
  if (limit >= 1) return keys > 0 ? { result: "better", p: 0 } : undecided;
  if (keys === 0) return undecided;
  const log = logBayesFactor([failures, keys - failures], [limit, 1 - limit], eventConcentration);
  return toTest(pOfLogBayesFactor(log), failures / keys < limit);
}

/** Whether a mean is below or above a limit. */
export function testMean(moments: MetricMoments, limit: number): GuardrailTest {
  const { n, mean, meanVariance } = estimateArm("mean", moments);
  if (n < gate || !(meanVariance > 0)) return undecided;
  return toTest(
    alwaysValidP(createSequence(alpha, plannedKeys), n, (mean - limit) / Math.sqrt(meanVariance)),
    mean < limit,
  );
}

/** Whether the failures of a canary are rarer or more frequent than those of its baseline. */
export function compareFailures(canary: number, baseline: number, canaryShare: number): GuardrailTest {
  if (canary + baseline === 0) return undecided;
  const p = equalRatesP([{ treatment: canary, control: baseline, treatmentShare: canaryShare }]);
  return toTest(p, canary / (canary + baseline) < canaryShare);
}

/** Whether a canary is shown to fail at most `margin` more often than its baseline. Each side may err with half of alpha. */
export function excludesLoss(canary: FailureCount, baseline: FailureCount, margin: number): boolean {
  if (canary.keys === 0 || baseline.keys === 0) return false;
  return failureBound(canary, 1) - failureBound(baseline, 0) <= margin;
}

/** The end of the always-valid interval of a failure share, between the observed share and 0 or 1. */
function failureBound({ failures, keys }: FailureCount, limit: 0 | 1): number {
  let inside = failures / keys;
  let outside: number = limit;
  for (let step = 0; step < 30; step++) {
    const middle = (inside + outside) / 2;
    if ((testFailureShare(failures, keys, middle).p ?? 1) < alpha / 2) outside = middle;
    else inside = middle;
  }
  return outside;
}

/** Whether the mean of a canary is below or above that of its baseline. */
export function compareMeans(canary: MetricMoments, baseline: MetricMoments, canaryShare: number): GuardrailTest {
  if (Math.min(canary.n, baseline.n) < meanGate(canaryShare)) return undecided;
  const [one, other] = [estimateArm("mean", canary), estimateArm("mean", baseline)];
  const error = Math.sqrt(one.meanVariance + other.meanVariance);
  if (!(error > 0)) return undecided;
  const z = (one.mean - other.mean) / error;
  return toTest(alwaysValidP(createSequence(alpha, plannedKeys), one.n + other.n, z), z < 0);
}

function toTest(p: number, isBetter: boolean): GuardrailTest {
  if (p >= alpha) return { result: "undecided", p };
  return { result: isBetter ? "better" : "worse", p };
}
