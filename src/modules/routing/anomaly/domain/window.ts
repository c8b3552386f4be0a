/** The aggregated outcomes of one time interval, for a recipient or a whole pool. */
export interface Window {
  /** All outcomes, including those that say nothing about health (declined, cancelled). */
  readonly total: number;
  readonly successes: number;
  /** Failures and timeouts. */
  readonly failures: number;
  readonly latency: Sums;
  readonly cost: Sums;
  /** The longest run of consecutive failures. */
  readonly failureRun: number;
  /** How often a success followed a failure or vice versa. */
  readonly flips: number;
}

/** Sums from which the mean and the variance are computed. */
export interface Sums {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

const noSums: Sums = { count: 0, sum: 0, squares: 0 };

/** A window without outcomes. */
export const emptyWindow: Window = {
  total: 0,
  successes: 0,
  failures: 0,
  latency: noSums,
  cost: noSums,
  failureRun: 0,
  flips: 0,
};

/** Number of baseline windows, and of the recent windows that are compared with them. */
export const baselineWindows = 24;
export const recentWindows = 3;

/** Number of windows that detection needs. */
export const windowsNeeded = baselineWindows + recentWindows;

/** A metric with a value in each window. */
export type MeasuredMetric = "latency_ms" | "success_rate" | "cost";

/** The value of a metric in a window: the mean over its outcomes. */
export interface Sample {
  readonly value: number;
  readonly count: number;
  /** Sum of squared deviations from the mean. */
  readonly scatter: number;
}

/** Returns the sample of a metric in a window; undefined without data. */
export function sampleOf(metric: MeasuredMetric, window: Window): Sample | undefined {
  const { count, sum, squares } = sumsOf[metric](window);
  if (count === 0) return undefined;
  return { value: sum / count, count, scatter: Math.max(0, squares - sum ** 2 / count) };
}

const sumsOf: Record<MeasuredMetric, (window: Window) => Sums> = {
  latency_ms: ({ latency }) => latency,
  // A success counts as 1, a failure as 0.
  success_rate: (window) => ({ count: countHealthOutcomes(window), sum: window.successes, squares: window.successes }),
  cost: ({ cost }) => cost,
};

/** Counts the outcomes of a window that say something about health. */
export function countHealthOutcomes({ successes, failures }: Window): number {
  return successes + failures;
}
