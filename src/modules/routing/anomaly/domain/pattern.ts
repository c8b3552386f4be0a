import type { Finding } from "./anomaly.ts";
import { type Comparison, findByVote, sumOf } from "./comparison.ts";
import { countHealthOutcomes, type Window } from "./window.ts";

/** Maximum probability of a failure run that is considered anomalous. */
const maxRunProbability = 1e-4;
/** Shorter runs are never anomalous. */
const minRunLength = 5;

/** Minimum number of outcomes for alternation, and the minimum share of outcomes that differ from the previous one. */
const alternationMin = 15;
const alternationShare = 0.9;
/** A recipient whose baseline alternates this often is not anomalous. */
const usualShareMax = 0.75;

/**
 * Finds patterns in the sequence of outcomes.
 *
 * failure_run: at least five consecutive failures with a probability of at most 1 in 10,000 at the baseline failure rate.
 * alternation: at least 90 % of the outcomes differ from the previous one.
 */
export function findPatterns(comparison: Comparison): Finding[] {
  return sumOf(comparison.baseline, countHealthOutcomes) < comparison.samplesMin
    ? []
    : [...failureRuns(comparison), ...alternations(comparison)];
}

function failureRuns(comparison: Comparison): Finding[] {
  const failures = sumOf(comparison.baseline, (window) => window.failures);
  // Add one success and one failure (Laplace smoothing), so the rate is never 0 or 1.
  const failureShare = (failures + 1) / (sumOf(comparison.baseline, countHealthOutcomes) + 2);
  const threshold = Math.max(minRunLength, Math.ceil(Math.log(maxRunProbability) / Math.log(failureShare)));
  const baseline = comparison.baseline.reduce((longest, { failureRun }) => Math.max(longest, failureRun), 0);
  return findByVote(comparison, { method: "pattern", metric: "failure_run" }, ({ failureRun: value }) => {
    return { value, baseline, threshold, isAnomalous: value >= threshold };
  });
}

function alternations(comparison: Comparison): Finding[] {
  const transitions = sumOf(comparison.baseline, countTransitions);
  const baseline = transitions === 0 ? 0 : sumOf(comparison.baseline, (window) => window.flips) / transitions;
  if (baseline >= usualShareMax) return [];
  return findByVote(comparison, { method: "pattern", metric: "alternation" }, (window) => {
    if (countHealthOutcomes(window) < alternationMin) return undefined;
    const value = window.flips / countTransitions(window);
    return { value, baseline, threshold: alternationShare, isAnomalous: value >= alternationShare };
  });
}

/** Returns the number of pairs of consecutive outcomes in a window. */
function countTransitions(window: Window): number {
  return Math.max(0, countHealthOutcomes(window) - 1);
}
