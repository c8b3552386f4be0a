/**
 * Exact sequential tests of counts (Lindon and Malek 2022): the Bayes factor of a Dirichlet mixture against fixed shares. It
 * is a martingale under the null hypothesis, so 1 / Bayes factor is a p-value however often somebody looks.
 */
import { logGamma } from "./log-gamma.ts";

/** Concentration of the mixture for events: high enough for canaries, low enough to find a tripled rate soon. */
export const eventConcentration = 20;

/** Concentration of the mixture for the sample ratio, where only small deviations are plausible. */
export const sampleRatioConcentration = 1_000;

/** The logarithm of the Bayes factor that the counts do not have these shares. The shares are positive and add up to 1. */
export function logBayesFactor(counts: readonly number[], shares: readonly number[], concentration: number): number {
  let total = 0;
  let log = 0;
  for (const [i, count] of counts.entries()) {
    const share = shares[i]!;
    total += count;
    log += logGamma(concentration * share + count) - logGamma(concentration * share) - count * Math.log(share);
  }
  return log + logGamma(concentration) - logGamma(concentration + total);
}

/** The p-value of a Bayes factor. */
export function pOfLogBayesFactor(log: number): number {
  return Math.min(1, Math.exp(-log));
}

/** Events of the control and of a treatment in one phase. */
export interface EventCounts {
  control: number;
  treatment: number;
  /** The treatment's share of the units of both, by the weights of the phase. */
  treatmentShare: number;
}

/** The p-value that the event rates are equal. The evidence of the phases multiplies. */
export function equalRatesP(phases: readonly EventCounts[]): number {
  return pOfLogBayesFactor(logBayesFactorOfRelativeRate(phases, 0));
}

/**
 * The logarithm of the Bayes factor against the relative rate exp(logRate). The mixture stays where it was fixed, around equal
 * rates, and only the tested value moves: this inverts the test into a confidence sequence.
 */
function logBayesFactorOfRelativeRate(phases: readonly EventCounts[], logRate: number): number {
  let log = 0;
  for (const { control, treatment, treatmentShare: share } of phases) {
    log += logBayesFactor([treatment, control], [share, 1 - share], eventConcentration);
    // Replaces the likelihood of equal rates by the likelihood of the tested rate. Written with logarithms of 1 + x, so that
    // no share rounds to 0 or 1.
    const logOdds = Math.log(share / (1 - share)) + logRate;
    log += treatment * (Math.log(share) + softplus(-logOdds)) + control * (Math.log1p(-share) + softplus(logOdds));
  }
  return log;
}

/** ln(1 + exp(x)), without overflow. */
function softplus(x: number): number {
  return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));
}

export interface RelativeRate {
  /** The rate of the treatment over the rate of the control. Infinite when the control has no events; NaN without events. */
  estimate: number;
  lower: number;
  upper: number;
}

/** Relative rates beyond e^±30 count as 0 and infinity. */
const logRateMax = 30;

/** The relative rate of the events with its always-valid interval. */
export function relativeRate(phases: readonly EventCounts[], alpha: number): RelativeRate {
  const treatment = phases.reduce((sum, phase) => sum + phase.treatment, 0);
  const control = phases.reduce((sum, phase) => sum + phase.control, 0);
  if (treatment + control === 0) return { estimate: Number.NaN, lower: 0, upper: Number.POSITIVE_INFINITY };
  const estimate = mostLikelyLogRate(phases, treatment, control);
  const isRejected = (logRate: number) => logBayesFactorOfRelativeRate(phases, logRate) >= -Math.log(alpha);
  return {
    estimate: fromLogRate(estimate),
    // The Bayes factor has one minimum, at the estimate, and grows on both sides.
    lower: fromLogRate(boundary(-logRateMax, estimate, isRejected)),
    upper: fromLogRate(boundary(logRateMax, estimate, isRejected)),
  };
}

function fromLogRate(logRate: number): number {
  if (logRate <= -logRateMax) return 0;
  return logRate >= logRateMax ? Number.POSITIVE_INFINITY : Math.exp(logRate);
}

function mostLikelyLogRate(phases: readonly EventCounts[], treatment: number, control: number): number {
  if (treatment === 0) return -logRateMax;
  if (control === 0) return logRateMax;
  const expectsMore = (logRate: number) => {
    let expected = 0;
    for (const phase of phases) {
      const odds = (phase.treatmentShare / (1 - phase.treatmentShare)) * Math.exp(logRate);
      expected += ((phase.treatment + phase.control) * odds) / (1 + odds);
    }
    return expected > treatment;
  };
  return boundary(logRateMax, -logRateMax, expectsMore);
}

/** Bisects between `outside`, where the predicate holds, and `inside`, where it does not. */
function boundary(outside: number, inside: number, predicate: (x: number) => boolean): number {
  if (!predicate(outside)) return outside;
  let [beyond, within] = [outside, inside];
  for (let i = 0; i < 60; i++) {
    const middle = (beyond + within) / 2;
    if (predicate(middle)) beyond = middle;
    else within = middle;
  }
  return beyond;
}
