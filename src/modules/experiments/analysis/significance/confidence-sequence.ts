/**
 * Asymptotic confidence sequences (Waudby-Smith and others, arXiv 2103.06476), the same as a normal-mixture sequential test.
 *
 * The interval at every sample size contains the true value, for all sample sizes at once, with probability 1 - alpha.
 */
export interface Sequence {
  alpha: number;
  /** The variance of the mixture. Fixed at the start: choosing it from the data would void the guarantee. */
  mixingVariance: number;
}

/** The sequence that is narrowest near the planned sample size. */
export function createSequence(alpha: number, plannedUnits: number): Sequence {
  if (!(plannedUnits > 0)) throw new RangeError("The planned units must be more than 0.");
  return { alpha, mixingVariance: mixedInformation(alpha) / plannedUnits };
}

/** The mixing variance times the sample size, at the planned sample size. */
function mixedInformation(alpha: number): number {
  return -2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha));
}

/** How many standard errors the interval extends to each side after n units. */
export function criticalValue(sequence: Sequence, n: number): number {
  const q = n * sequence.mixingVariance;
  return Math.sqrt((1 + 1 / q) * (Math.log1p(q) - 2 * Math.log(sequence.alpha)));
}

/** The critical value at the planned sample size, which depends on alpha alone. */
export function plannedCriticalValue(alpha: number): number {
  return criticalValue(createSequence(alpha, 1), 1);
}

/** The always-valid p-value of an estimate that is z standard errors from 0. */
export function alwaysValidP(sequence: Sequence, n: number, z: number): number {
  const q = n * sequence.mixingVariance;
  return Math.min(1, Math.exp(0.5 * Math.log1p(q) - ((q / (q + 1)) * z * z) / 2));
}
