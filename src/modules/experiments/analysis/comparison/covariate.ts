/**
 * CUPED (Deng and others 2013): a covariate that was measured before the exposure explains a part of the variance, which is
 * subtracted. A unit without a covariate gets the mean of the others, so that it is not adjusted.
 */
import type { MetricMoments } from "../moments.ts";
import type { MetricType } from "../plan.ts";
import { type ArmEstimate, gate, valueVariance } from "./arm-estimate.ts";

/** The moments of an arm after missing covariates were replaced. */
interface CompletedCovariate {
  mean: number;
  m2: number;
  product: number;
}

type PhaseArms = readonly MetricMoments[];

export interface CovariateAdjustment {
  estimate(type: MetricType, moments: MetricMoments, phase: PhaseArms): ArmEstimate;
}

/**
 * The adjustment with one slope for all arms and phases. Undefined when the covariate cannot be used: for ratios, and while an
 * arm has too few units with a covariate.
 */
export function createAdjustment(type: MetricType, phases: readonly PhaseArms[]): CovariateAdjustment | undefined {
  if (type === "ratio" || type === "rare_event") return undefined;
  let m2 = 0;
  let product = 0;
  for (const arms of phases) {
    if (arms.some((arm) => arm.covariateN < gate)) return undefined;
    const centre = covariateMean(arms);
    for (const arm of arms) {
      const completed = completeCovariate(arm, centre);
      m2 += completed.m2;
      product += completed.product;
    }
  }
  if (!(m2 > 0)) return undefined;
  const slope = product / m2;
  return {
    estimate(type, moments, phase) {
      const centre = covariateMean(phase);
      const completed = completeCovariate(moments, centre);
      const { n } = moments;
      const variance =
        valueVariance(type, moments) +
        (slope * slope * completed.m2) / (n - 1) -
        (2 * slope * completed.product) / (n - 1);
      return { n, mean: moments.mean - slope * (completed.mean - centre), meanVariance: Math.max(0, variance) / n };
    },
  };
}

function covariateMean(arms: PhaseArms): number {
  const n = arms.reduce((sum, arm) => sum + arm.covariateN, 0);
  return arms.reduce((sum, arm) => sum + arm.covariateMean * arm.covariateN, 0) / n;
}

/** Replaces missing covariates by `centre`, in closed form. */
function completeCovariate(arm: MetricMoments, centre: number): CompletedCovariate {
  const { n, covariateN: known } = arm;
  const missing = n - known;
  const d = arm.covariateMean - centre;
  return {
    mean: centre + (d * known) / n,
    m2: arm.covariateM2 + (d * d * known * missing) / n,
    // Replaced covariates equal `centre`, so that they add nothing to the products around it.
    product: arm.covariateProduct + d * known * (arm.covariateOutcomeMean - arm.mean),
  };
}
