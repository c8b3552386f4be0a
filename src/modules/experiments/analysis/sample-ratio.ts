import type { PhaseSummary, SampleRatio } from "./analysis-result.ts";
import { logBayesFactor, pOfLogBayesFactor, sampleRatioConcentration } from "./significance/exact-test.ts";

/** A mismatch voids all results, so it needs stronger evidence than a metric. */
const mismatchP = 0.001;

/**
 * Compares the exposed units with the weights. The p-value is the smallest so far: a mismatch does not go away when later
 * units dilute it.
 */
export function checkSampleRatio(
  variants: readonly string[],
  phases: readonly PhaseSummary[],
  earlierP = 1,
): SampleRatio {
  const units = new Map(variants.map((variant) => [variant, 0]));
  const expected = new Map(variants.map((variant) => [variant, 0]));
  let log = 0;
  for (const phase of phases) {
    const weightSum = variants.reduce((sum, variant) => sum + weightOf(phase, variant), 0);
    const counts = variants.map((variant) => phase.arms.find((arm) => arm.variant === variant)?.units ?? 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const shares = variants.map((variant) => weightOf(phase, variant) / weightSum);
    for (const [i, variant] of variants.entries()) {
      units.set(variant, units.get(variant)! + counts[i]!);
      expected.set(variant, expected.get(variant)! + (weightSum > 0 ? total * shares[i]! : 0));
    }
    if (total > 0) log += logEvidence(counts, shares);
  }
  const p = Math.min(earlierP, pOfLogBayesFactor(log));
  return {
    p,
    isMismatch: p < mismatchP,
    arms: variants.map((variant) => ({ variant, units: units.get(variant)!, expected: expected.get(variant)! })),
  };
}

function weightOf(phase: PhaseSummary, variant: string): number {
  return phase.weights[variant] ?? 0;
}

function logEvidence(counts: readonly number[], shares: readonly number[]): number {
  // A unit in a variant without a weight is impossible.
  if (counts.some((count, i) => count > 0 && !(shares[i]! > 0))) return Number.POSITIVE_INFINITY;
  const used = shares.flatMap((share, i) => (share > 0 ? [i] : []));
  return logBayesFactor(
    used.map((i) => counts[i]!),
    used.map((i) => shares[i]!),
    sampleRatioConcentration,
  );
}
