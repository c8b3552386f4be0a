/**
 * The moments of one metric in one arm: flat numbers that can be stored, added up and merged across shards.
 *
 * They are centred (Welford), because the difference of two large sums of squares loses the variance.
 */
export interface MetricMoments {
  /** Units with a value. */
  n: number;
  mean: number;
  /** Sum of the squared deviations from the mean. */
  m2: number;
  /** Units whose value is not 0: the events of a proportion. */
  nonZero: number;
  /** Units that also have a covariate, and the moments of those units only. */
  covariateN: number;
  covariateMean: number;
  covariateM2: number;
  /** Sum of the products of the deviations of the covariate and of the value. */
  covariateProduct: number;
  /** Mean value of the units that have a covariate. */
  covariateOutcomeMean: number;
  /** Moments of the denominators of a ratio; 0 for other metrics. */
  denominatorMean: number;
  denominatorM2: number;
  /** Sum of the products of the deviations of the denominator and of the value. */
  denominatorProduct: number;
}

/** One unit's value of a metric. */
export interface UnitValue {
  /** The value of the unit, or the numerator of a ratio. */
  value: number;
  /** Measured before the first exposure. */
  covariate?: number | undefined;
  /** Only of a ratio. */
  denominator?: number | undefined;
}

/** The fields of moments in the order in which they are stored. */
export const momentFields = [
  "n",
  "mean",
  "m2",
  "nonZero",
  "covariateN",
  "covariateMean",
  "covariateM2",
  "covariateProduct",
  "covariateOutcomeMean",
  "denominatorMean",
  "denominatorM2",
  "denominatorProduct",
] as const satisfies readonly (keyof MetricMoments)[];

export function emptyMoments(): MetricMoments {
  return {
    n: 0,
    mean: 0,
    m2: 0,
    nonZero: 0,
    covariateN: 0,
    covariateMean: 0,
    covariateM2: 0,
    covariateProduct: 0,
    covariateOutcomeMean: 0,
    denominatorMean: 0,
    denominatorM2: 0,
    denominatorProduct: 0,
  };
}

export function momentsOfUnit(unit: UnitValue): MetricMoments {
  const hasCovariate = unit.covariate !== undefined;
  return {
    ...emptyMoments(),
    n: 1,
    mean: unit.value,
    nonZero: unit.value === 0 ? 0 : 1,
    covariateN: hasCovariate ? 1 : 0,
    covariateMean: unit.covariate ?? 0,
    covariateOutcomeMean: hasCovariate ? unit.value : 0,
    denominatorMean: unit.denominator ?? 0,
  };
}

/** Adds one unit in place, for loops over many units. */
export function addToMoments(moments: MetricMoments, unit: UnitValue): void {
  const n = moments.n + 1;
  const deviation = unit.value - moments.mean;
  moments.mean += deviation / n;
  moments.m2 += deviation * (unit.value - moments.mean);
  if (unit.value !== 0) moments.nonZero++;
  const denominator = unit.denominator ?? 0;
  const denominatorDeviation = denominator - moments.denominatorMean;
  moments.denominatorMean += denominatorDeviation / n;
  moments.denominatorM2 += denominatorDeviation * (denominator - moments.denominatorMean);
  moments.denominatorProduct += denominatorDeviation * (unit.value - moments.mean);
  if (unit.covariate !== undefined) {
    moments.covariateN++;
    const covariateDeviation = unit.covariate - moments.covariateMean;
    moments.covariateMean += covariateDeviation / moments.covariateN;
    moments.covariateM2 += covariateDeviation * (unit.covariate - moments.covariateMean);
    moments.covariateOutcomeMean += (unit.value - moments.covariateOutcomeMean) / moments.covariateN;
    moments.covariateProduct += covariateDeviation * (unit.value - moments.covariateOutcomeMean);
  }
  moments.n = n;
}

/** The moments of all units of both arguments. */
export function mergeMoments(a: MetricMoments, b: MetricMoments): MetricMoments {
  if (a.n === 0) return { ...b };
  if (b.n === 0) return { ...a };
  const n = a.n + b.n;
  const cross = (a.n * b.n) / n;
  const d = b.mean - a.mean;
  const dDenominator = b.denominatorMean - a.denominatorMean;
  return {
    n,
    mean: a.mean + (d * b.n) / n,
    m2: a.m2 + b.m2 + d * d * cross,
    nonZero: a.nonZero + b.nonZero,
    ...mergeCovariate(a, b),
    denominatorMean: a.denominatorMean + (dDenominator * b.n) / n,
    denominatorM2: a.denominatorM2 + b.denominatorM2 + dDenominator * dDenominator * cross,
    denominatorProduct: a.denominatorProduct + b.denominatorProduct + d * dDenominator * cross,
  };
}

type CovariateMoments = Pick<
  MetricMoments,
  "covariateN" | "covariateMean" | "covariateM2" | "covariateProduct" | "covariateOutcomeMean"
>;

function mergeCovariate(a: MetricMoments, b: MetricMoments): CovariateMoments {
  const n = a.covariateN + b.covariateN;
  const share = n === 0 ? 0 : b.covariateN / n;
  const cross = a.covariateN * share;
  const d = b.covariateMean - a.covariateMean;
  const dOutcome = b.covariateOutcomeMean - a.covariateOutcomeMean;
  return {
    covariateN: n,
    covariateMean: a.covariateMean + d * share,
    covariateM2: a.covariateM2 + b.covariateM2 + d * d * cross,
    covariateProduct: a.covariateProduct + b.covariateProduct + d * dOutcome * cross,
    covariateOutcomeMean: a.covariateOutcomeMean + dOutcome * share,
  };
}

/** The moments of the units of `whole` that are not in `part`. `part` must be a subset of `whole`. */
export function removeFromMoments(whole: MetricMoments, part: MetricMoments): MetricMoments {
  const n = whole.n - part.n;
  if (n < 0 || whole.covariateN < part.covariateN) throw new RangeError("The units to remove are not in the moments.");
  if (n === 0) return emptyMoments();
  const cross = (n * part.n) / whole.n;
  const mean = whole.mean + ((whole.mean - part.mean) * part.n) / n;
  const d = part.mean - mean;
  const denominatorMean = whole.denominatorMean + ((whole.denominatorMean - part.denominatorMean) * part.n) / n;
  const dDenominator = part.denominatorMean - denominatorMean;
  return {
    n,
    mean,
    m2: Math.max(0, whole.m2 - part.m2 - d * d * cross),
    nonZero: whole.nonZero - part.nonZero,
    ...removeCovariate(whole, part),
    denominatorMean,
    denominatorM2: Math.max(0, whole.denominatorM2 - part.denominatorM2 - dDenominator * dDenominator * cross),
    denominatorProduct: whole.denominatorProduct - part.denominatorProduct - d * dDenominator * cross,
  };
}

function removeCovariate(whole: MetricMoments, part: MetricMoments): CovariateMoments {
  const n = whole.covariateN - part.covariateN;
  if (n === 0) {
    return { covariateN: 0, covariateMean: 0, covariateM2: 0, covariateProduct: 0, covariateOutcomeMean: 0 };
  }
  const ratio = part.covariateN / n;
  const cross = (n * part.covariateN) / whole.covariateN;
  const covariateMean = whole.covariateMean + (whole.covariateMean - part.covariateMean) * ratio;
  const outcomeMean = whole.covariateOutcomeMean + (whole.covariateOutcomeMean - part.covariateOutcomeMean) * ratio;
  const d = part.covariateMean - covariateMean;
  const dOutcome = part.covariateOutcomeMean - outcomeMean;
  return {
    covariateN: n,
    covariateMean,
    covariateM2: Math.max(0, whole.covariateM2 - part.covariateM2 - d * d * cross),
    covariateProduct: whole.covariateProduct - part.covariateProduct - d * dOutcome * cross,
    covariateOutcomeMean: outcomeMean,
  };
}

/** The error for a value that cannot be summed. */
export const summableRange = "must be 0 or between 1e-30 and 1e30 in magnitude, so that it can be squared and summed";

/** Whether sums of the value, of its square and of its ratios neither overflow nor vanish. */
export function isSummable(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-30 && size <= 1e30);
}

/** Limits a unit's value to ±cap. The cap is declared in the draft and applies to the whole value of a unit. */
export function winsorize(value: number, cap: number | undefined): number {
  return cap === undefined ? value : Math.min(cap, Math.max(-cap, value));
}
