import type { MetricType } from "./plan.ts";

/** What the author of a draft knows about a metric. */
export interface SampleSizeMetric {
  key: string;
  type: MetricType;
  /** The mean, proportion, ratio or event rate of the control. */
  baseline: number;
  /** Standard deviation of a unit's value; proportions and rare events do not need it. */
  standardDeviation?: number | undefined;
  /** The smallest difference that matters, as a fraction of the baseline (0.1: 10 %). */
  minimumLift: number;
}

export interface SampleSizeRequest {
  alpha: number;
  /** The probability of finding the smallest difference that matters, usually 0.8. */
  power: number;
  control: string;
  weights: Readonly<Record<string, number>>;
  /** The success metrics. */
  metrics: readonly SampleSizeMetric[];
  /** New units per day that pass the targeting and the allocation, if known. */
  unitsPerDay?: number | undefined;
  scoreWindowDays: number;
}

export interface SampleSize {
  /** Units of all variants: the planned units of the analysis. */
  units: number;
  /** Days of traffic and the score window of the last unit. Null without a known traffic. */
  days: number | null;
  perMetric: readonly { key: string; units: number }[];
}

/** Units that an experiment needs to find the smallest difference that matters, and how long that takes. */
export function sampleSize(_request: SampleSizeRequest): SampleSize {
  throw new Error("Not available yet.");
}
