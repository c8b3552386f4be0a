import type { Needs } from "./analysis-result.ts";
import type { MetricMoments } from "./moments.ts";
import type { MetricType } from "./plan.ts";

/** The mean of an arm and the variance of that mean. */
export interface ArmEstimate {
  n: number;
  mean: number;
  meanVariance: number;
}

/**
 * Events, and non-events of proportions, that each arm needs before it is compared. Without this gate, a test with 5 % of the
 * units and a rate of 1 % reports a difference in 60 % of the cases where there is none.
 */
export const gate = 25;

/** What an arm lacks. For a proportion events and non-events, for other metrics units with a value other than 0. */
export function needsOf(type: MetricType, moments: MetricMoments): Needs {
  const lacking = (count: number) => Math.max(0, gate - count);
  if (type === "proportion") {
    return { units: 0, events: lacking(moments.nonZero), nonEvents: lacking(moments.n - moments.nonZero) };
  }
  return { units: lacking(moments.nonZero), events: 0, nonEvents: 0 };
}

/** Variance of the units' values; of a ratio, of its linearised values. */
export function valueVariance(type: MetricType, moments: MetricMoments): number {
  const { n, mean, m2 } = moments;
  if (type === "proportion" || type === "rare_event") return mean * (1 - mean);
  if (n < 2) return Number.NaN;
  if (type !== "ratio") return m2 / (n - 1);
  const denominator = moments.denominatorMean;
  const denominatorVariance = moments.denominatorM2 / (n - 1);
  const covariance = moments.denominatorProduct / (n - 1);
  return (
    m2 / (n - 1) / denominator ** 2 +
    (mean ** 2 * denominatorVariance) / denominator ** 4 -
    (2 * mean * covariance) / denominator ** 3
  );
}

export function estimateArm(type: MetricType, moments: MetricMoments): ArmEstimate {
  const mean = type === "ratio" ? moments.mean / moments.denominatorMean : moments.mean;
  return { n: moments.n, mean, meanVariance: valueVariance(type, moments) / moments.n };
}
