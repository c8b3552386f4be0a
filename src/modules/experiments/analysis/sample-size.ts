import { gate, meanGate } from "./comparison/arm-estimate.ts";
import type { MetricType } from "./plan.ts";
import { plannedCriticalValue } from "./significance/confidence-sequence.ts";
import { eventConcentration, logBayesFactor } from "./significance/exact-test.ts";
import { normalQuantile } from "./significance/normal-quantile.ts";

/** An author's estimates for a success metric of a draft. If one is unknown, so is the sample size. */
export interface SampleSizeMetric {
  key: string;
  type: MetricType;
  /** The mean, proportion, ratio or event rate of the control. */
  baseline?: number | undefined;
  /** Standard deviation of a unit's value; proportions and rare events do not need it. */
  standardDeviation?: number | undefined;
  /** The smallest difference that matters, as a fraction of the baseline: 0.1 is 10 % more, -0.1 is 10 % less. */
  minimumLift?: number | undefined;
}

export interface SampleSizeRequest {
  alpha: number;
  /** The probability of finding the smallest difference that matters, usually 0.8. */
  power: number;
  control: string;
  weights: Readonly<Record<string, number>>;
  /** The success metrics. */
  metrics: readonly SampleSizeMetric[];
  /** New units per day that pass the targeting and the allocation. */
  unitsPerDay?: number | undefined;
  scoreWindowDays: number;
}

export interface SampleSize {
  /** Units of all variants that find the smallest difference: the planned units of the analysis. Null when unknown. */
  units: number | null;
  /** Units of all variants before anything can be compared. */
  minimumUnits: number | null;
  /** Days of traffic plus the score window of the last unit. Null when the units or the traffic are unknown. */
  days: number | null;
  metrics: readonly { key: string; units: number | null; minimumUnits: number | null }[];
}

interface Shares {
  control: number;
  treatment: number;
}

/**
 * The units that an experiment needs, and how long that takes.
 *
 * The size is where one look at the end finds the difference with the given probability. Earlier looks can only find it sooner.
 */
export function sampleSize(request: SampleSizeRequest): SampleSize {
  const total = Object.values(request.weights).reduce((sum, weight) => sum + weight, 0);
  const control = (request.weights[request.control] ?? 0) / total;
  const treatments = Object.entries(request.weights).filter(([variant]) => variant !== request.control);
  const pairs = treatments.map(([, weight]) => ({ control, treatment: weight / total }));
  const alpha = request.alpha / (request.metrics.length * Math.max(1, treatments.length));
  const metrics = request.metrics.map((metric) => ({
    key: metric.key,
    units: largest(pairs.map((shares) => unitsToFind(metric, shares, alpha, request.power))),
    minimumUnits: largest(pairs.map((shares) => unitsToCompare(metric, shares))),
  }));
  const units = largest(metrics.map((metric) => metric.units));
  return {
    units,
    minimumUnits: largest(metrics.map((metric) => metric.minimumUnits)),
    days:
      units === null || !(request.unitsPerDay! > 0)
        ? null
        : Math.ceil(units / request.unitsPerDay! + request.scoreWindowDays),
    metrics,
  };
}

/** Null when one is unknown or not finite. */
function largest(units: readonly (number | null)[]): number | null {
  if (units.length === 0 || units.some((value) => value === null || !Number.isFinite(value))) return null;
  return Math.ceil(Math.max(...(units as number[])));
}

function unitsToFind(metric: SampleSizeMetric, shares: Shares, alpha: number, power: number): number | null {
  const { type, baseline, minimumLift } = metric;
  if (baseline === undefined || minimumLift === undefined) return null;
  if (type === "rare_event") return unitsForRareEvents(baseline, minimumLift, shares, alpha, power);
  const difference = baseline * minimumLift;
  const variances = variancesOf(metric, baseline, baseline + difference);
  if (variances === null || difference === 0) return null;
  const reach = plannedCriticalValue(alpha) + normalQuantile(power);
  const units =
    (variances.control / shares.control + variances.treatment / shares.treatment) * (reach / difference) ** 2;
  return Math.max(units, unitsToCompare(metric, shares) ?? 0);
}

function variancesOf(metric: SampleSizeMetric, control: number, treatment: number): Shares | null {
  if (metric.type === "proportion") {
    if (!(control > 0 && control < 1 && treatment > 0 && treatment < 1)) return null;
    return { control: control * (1 - control), treatment: treatment * (1 - treatment) };
  }
  if (!(metric.standardDeviation! > 0)) return null;
  return { control: metric.standardDeviation! ** 2, treatment: metric.standardDeviation! ** 2 };
}

/** Units until each arm passes the gate. */
function unitsToCompare(metric: SampleSizeMetric, shares: Shares): number | null {
  const { type, baseline, minimumLift = 0 } = metric;
  if (type === "rare_event") return 1 / Math.min(shares.control, shares.treatment);
  if (type !== "proportion") {
    const treatmentShare = shares.treatment / (shares.control + shares.treatment);
    return meanGate(treatmentShare) / Math.min(shares.control, shares.treatment);
  }
  if (baseline === undefined) return null;
  const rarest = (rate: number) => Math.min(rate, 1 - rate);
  return Math.max(
    gate / (shares.control * rarest(baseline)),
    gate / (shares.treatment * rarest(baseline * (1 + minimumLift))),
  );
}

function unitsForRareEvents(
  baseline: number,
  minimumLift: number,
  shares: Shares,
  alpha: number,
  power: number,
): number | null {
  const rate = 1 + minimumLift;
  if (!(baseline > 0 && rate > 0) || minimumLift === 0) return null;
  const expectedShare = shares.treatment / (shares.control + shares.treatment);
  const trueShare = (rate * expectedShare) / (rate * expectedShare + 1 - expectedShare);
  // The share of the events that the treatment reaches with the given probability, on the unlucky side.
  const unlucky = normalQuantile(power) * (trueShare > expectedShare ? -1 : 1);
  const isFound = (events: number) => {
    const treatment = events * trueShare + unlucky * Math.sqrt(events * trueShare * (1 - trueShare));
    const isBeyond =
      trueShare > expectedShare ? treatment > events * expectedShare : treatment < events * expectedShare;
    if (!isBeyond || treatment < 0 || treatment > events) return false;
    const shareOfEvents = [expectedShare, 1 - expectedShare];
    return logBayesFactor([treatment, events - treatment], shareOfEvents, eventConcentration) >= -Math.log(alpha);
  };
  let enough = 1;
  while (!isFound(enough)) {
    enough *= 2;
    if (enough > 1e12) return null;
  }
  let tooFew = enough / 2;
  while (enough - tooFew > 0.5) {
    const middle = (tooFew + enough) / 2;
    if (isFound(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough / (baseline * (shares.control + shares.treatment * rate));
}
