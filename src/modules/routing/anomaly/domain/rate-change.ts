import type { Finding } from "./anomaly.ts";
import { type Comparison, findByVote, hasFailures, sumOf } from "./comparison.ts";
import { countHealthOutcomes } from "./window.ts";

/** Number of standard deviations below the baseline at which a drop is significant. */
const chanceDeviations = 3;

/**
 * Finds drops of the success rate and, for whole pools, of the throughput. The throughput of a recipient depends on
 * the strategy of its pool.
 */
export function findRateChanges(comparison: Comparison, drop: number, ofPool: boolean): Finding[] {
  return [...successDrop(comparison, drop), ...(ofPool ? throughputDrop(comparison, drop) : [])];
}

function successDrop(comparison: Comparison, drop: number): Finding[] {
  const count = sumOf(comparison.baseline, countHealthOutcomes);
  const successes = sumOf(comparison.baseline, (window) => window.successes);
  if (count < comparison.samplesMin || successes === 0) return [];
  const baseline = successes / count;
  return findByVote(comparison, { method: "rate_change", metric: "success_rate" }, (window) => {
    if (countHealthOutcomes(window) < comparison.windowMin || !hasFailures(window)) return undefined;
    const value = window.successes / countHealthOutcomes(window);
    const deviation = Math.sqrt((baseline * (1 - baseline)) / countHealthOutcomes(window));
    const threshold = Math.min(baseline * (1 - drop), baseline - chanceDeviations * deviation);
    return { value, baseline, threshold, isAnomalous: value <= threshold };
  });
}

function throughputDrop(comparison: Comparison, drop: number): Finding[] {
  const count = sumOf(comparison.baseline, (window) => window.total);
  if (count < comparison.samplesMin) return [];
  const baseline = count / comparison.baseline.length;
  // Arrivals follow a Poisson distribution: the standard deviation is the square root of the mean.
  const threshold = Math.min(baseline * (1 - drop), baseline - chanceDeviations * Math.sqrt(baseline));
  return findByVote(comparison, { method: "rate_change", metric: "throughput" }, ({ total: value }) => {
    return { value, baseline, threshold, isAnomalous: value <= threshold };
  });
}
