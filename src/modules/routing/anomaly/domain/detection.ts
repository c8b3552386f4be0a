import type { AnomalyConfig } from "../../pools/index.ts";
import type { AnomalyMethod, Finding } from "./anomaly.ts";
import { type Comparison, createComparison } from "./comparison.ts";
import { createIqrBound, createZscoreBound, findOutliers } from "./outlier-bounds.ts";
import { findPatterns } from "./pattern.ts";
import { findRateChanges } from "./rate-change.ts";
import type { Window } from "./window.ts";

/** Whether windows belong to a recipient or to a whole pool. */
export type SeriesScope = "recipient" | "pool";

/** The part of the config that controls detection. */
export type DetectionConfig = Pick<
  AnomalyConfig,
  "methods" | "zscoreThreshold" | "iqrMultiplier" | "rateChangeDrop" | "samplesMin"
>;

/**
 * Detects anomalies in the last three windows against the windows before them, in the order of the configured
 * methods.
 *
 * Only degradations are findings: higher latency, higher cost, a lower success rate, lower throughput. Two of the
 * three windows must be anomalous, and the baseline must contain enough outcomes.
 */
export function detect(windows: readonly Window[], config: DetectionConfig, scope: SeriesScope): Finding[] {
  const comparison = createComparison(windows, config.samplesMin);
  return config.methods.flatMap((method) => detectors[method](comparison, config, scope));
}

const detectors: Record<
  AnomalyMethod,
  (comparison: Comparison, config: DetectionConfig, scope: SeriesScope) => Finding[]
> = {
  zscore: (comparison, { zscoreThreshold }) => findOutliers(comparison, "zscore", createZscoreBound(zscoreThreshold)),
  iqr: (comparison, { iqrMultiplier }) => findOutliers(comparison, "iqr", createIqrBound(iqrMultiplier)),
  rate_change: (comparison, { rateChangeDrop }, scope) => findRateChanges(comparison, rateChangeDrop, scope === "pool"),
  // A pool mixes the outcomes of many recipients, so their sequence is random.
  pattern: (comparison, _, scope) => (scope === "pool" ? [] : findPatterns(comparison)),
};
