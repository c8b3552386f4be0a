import type { Finding } from "./anomaly.ts";
import { type Comparison, findByVote, hasEnoughSamples, hasFailures } from "./comparison.ts";
import {
  deviationsPerMedianDeviation,
  deviationsPerQuartileRange,
  mean,
  median,
  medianAbsoluteDeviation,
  quantile,
  standardDeviation,
} from "./statistics.ts";
import { type MeasuredMetric, type Sample, sampleOf, type Window } from "./window.ts";

interface BoundInput {
  /** Values of the baseline and of the recent windows that have enough outcomes. */
  readonly baseline: readonly number[];
  readonly recent: readonly number[];
  /** The minimum spread that the value of the window has by chance. */
  readonly chance: number;
  /** The direction of degradation. */
  readonly sign: 1 | -1;
}

/** Computes the normal value and the threshold beyond which a window is anomalous. */
export type BoundFunction = (usual: BoundInput) => Pick<Finding, "baseline" | "threshold">;

const worse: Record<MeasuredMetric, BoundInput["sign"]> = { latency_ms: 1, success_rate: -1, cost: 1 };

/** Finds metrics with values beyond a bound. */
export function findOutliers(comparison: Comparison, method: "zscore" | "iqr", computeBound: BoundFunction): Finding[] {
  return (Object.keys(worse) as MeasuredMetric[]).flatMap((metric) => {
    const samplesIn = (window: Window) => {
      const sample = sampleOf(metric, window);
      return sample !== undefined && sample.count >= comparison.windowMin ? [sample] : [];
    };
    const samples = comparison.baseline.flatMap(samplesIn);
    if (!hasEnoughSamples(samples, comparison)) return [];
    const baseline = samples.map(({ value }) => value);
    const recent = comparison.recent.flatMap(samplesIn).map(({ value }) => value);
    const sign = worse[metric];
    return findByVote(comparison, { method, metric }, (window) => {
      const [sample] = samplesIn(window);
      if (sample === undefined || (metric === "success_rate" && !hasFailures(window))) return undefined;
      const bound = computeBound({ baseline, recent, chance: chanceSpread(metric, samples, sample), sign });
      return { value: sample.value, ...bound, isAnomalous: sign * (sample.value - bound.threshold) > 0 };
    });
  });
}

/**
 * Creates a bound of `limit` standard deviations from the mean. If all baseline values are equal, the median
 * absolute deviation of all values replaces the standard deviation. The spread is never below the spread by chance.
 */
export function createZscoreBound(limit: number): BoundFunction {
  return ({ baseline: values, recent, chance, sign }) => {
    const baseline = mean(values);
    const deviation = standardDeviation(values);
    // Equal values differ by rounding errors only.
    const areEqual = deviation <= Math.abs(baseline) * 1e-9;
    const spread = areEqual
      ? deviationsPerMedianDeviation * medianAbsoluteDeviation([...values, ...recent])
      : deviation;
    return { baseline, threshold: baseline + sign * limit * Math.max(spread, chance) };
  };
}

/**
 * Creates a bound of `multiplier` interquartile ranges beyond the quartile on the worse side. The range is never
 * below the spread by chance.
 */
export function createIqrBound(multiplier: number): BoundFunction {
  return ({ baseline: values, chance, sign }) => {
    const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
    const range = Math.max(high - low, deviationsPerQuartileRange * chance);
    return { baseline: median(values), threshold: (sign > 0 ? high : low) + sign * multiplier * range };
  };
}

/** A deviation of one percent is negligible. */
const negligibleShare = 0.01;

/**
 * Returns the minimum spread of the value of a window by chance: the more outcomes a mean has, the less it varies.
 * The variance of single outcomes is estimated within each baseline window.
 */
function chanceSpread(metric: MeasuredMetric, usual: readonly Sample[], { count }: Sample): number {
  const all = usual.reduce((sum, sample) => sum + sample.count, 0);
  const negligible = negligibleShare * Math.abs(median(usual.map(({ value }) => value)));
  if (metric === "success_rate") {
    const successes = usual.reduce((sum, sample) => sum + sample.value * sample.count, 0);
    // Add one success and one failure (Laplace smoothing), so the rate is never 0 or 1.
    const rate = (successes + 1) / (all + 2);
    return Math.max(negligible, Math.sqrt((rate * (1 - rate)) / count));
  }
  const scatter = usual.reduce((sum, sample) => sum + sample.scatter, 0);
  return Math.max(negligible, Math.sqrt(scatter / Math.max(1, all - usual.length) / count));
}
