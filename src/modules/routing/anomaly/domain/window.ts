/** What came of the work in one stretch of time, for a recipient or for a whole pool. */
export interface Window {
  /** All outcomes, those that say nothing about health (declined, cancelled) too. */
  readonly total: number;
  readonly successes: number;
  /** Failures and timeouts. */
  readonly failures: number;
  readonly latency: Sums;
  readonly cost: Sums;
  /** The most failures in a row. */
  readonly failureRun: number;
  /** How often a success followed a failure or the other way round. */
  readonly flips: number;
}

/** What is left of the values that outcomes told: enough for their mean and how far they lie from it. */
export interface Sums {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

const noSums: Sums = { count: 0, sum: 0, squares: 0 };

/** A window in which nothing came in. */
export const emptyWindow: Window = {
  total: 0,
  successes: 0,
  failures: 0,
  latency: noSums,
  cost: noSums,
  failureRun: 0,
  flips: 0,
};

/** How many windows tell what is usual, and how many after them are held against it. */
export const baselineWindows = 24;
export const recentWindows = 3;

/** All windows that a look needs. */
export const windowsNeeded = baselineWindows + recentWindows;

/** A metric that has a value in each window. */
export type MeasuredMetric = "latency_ms" | "success_rate" | "cost";

/** The value of a metric in a window: the mean of what its outcomes told. */
export interface Sample {
  readonly value: number;
  readonly count: number;
  /** The sum of the squares of how far the outcomes lie from the mean. */
  readonly scatter: number;
}

/** The sample of a metric in a window; undefined when nothing told it. */
export function sampleOf(metric: MeasuredMetric, window: Window): Sample | undefined {
  const { count, sum, squares } = sumsOf[metric](window);
  if (count === 0) return undefined;
  return { value: sum / count, count, scatter: Math.max(0, squares - sum ** 2 / count) };
}

const sumsOf: Record<MeasuredMetric, (window: Window) => Sums> = {
  latency_ms: ({ latency }) => latency,
  // A success is a one and a failure a zero.
  success_rate: (window) => ({ count: judged(window), sum: window.successes, squares: window.successes }),
  cost: ({ cost }) => cost,
};

/** How many outcomes of a window say something about health. */
export function judged({ successes, failures }: Window): number {
  return successes + failures;
}
