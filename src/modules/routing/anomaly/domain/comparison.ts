import type { Finding } from "./anomaly.ts";
import { baselineWindows, recentWindows, type Sample, type Window } from "./window.ts";

/** Recent windows and the baseline that they are compared with. */
export interface Comparison {
  /** Baseline windows, oldest first. */
  readonly baseline: readonly Window[];
  /** Recent windows, oldest first. */
  readonly recent: readonly Window[];
  /** Minimum number of outcomes in the baseline. */
  readonly samplesMin: number;
  /** Minimum number of outcomes in a window for its value to count: a sixth of samplesMin, 5 of 30. */
  readonly windowMin: number;
}

/** Minimum number of baseline windows with a value. */
const baselineWindowsMin = 8;

/** Minimum number of anomalous recent windows. */
const votesNeeded = 2;

/** Fewer failures are not significant, whatever their share of a window. */
const failuresMin = 3;

/** Splits windows, oldest first, into baseline and recent windows. */
export function createComparison(windows: readonly Window[], samplesMin: number): Comparison {
  const recent = windows.slice(-recentWindows);
  const baseline = windows.slice(0, -recentWindows).slice(-baselineWindows);
  return { baseline, recent, samplesMin, windowMin: Math.ceil(samplesMin / 6) };
}

/** Returns whether the baseline samples suffice for a comparison. */
export function hasEnoughSamples(usual: readonly Sample[], { samplesMin }: Comparison): boolean {
  return usual.length >= baselineWindowsMin && usual.reduce((sum, { count }) => sum + count, 0) >= samplesMin;
}

/** Returns whether a window has a significant number of failures. */
export function hasFailures({ failures }: Window): boolean {
  return failures >= failuresMin;
}

/** The result of a method for one window. */
interface WindowResult extends Pick<Finding, "value" | "baseline" | "threshold"> {
  readonly isAnomalous: boolean;
}

/** Returns a finding if enough recent windows are anomalous, with the numbers of the latest of them. */
export function findByVote(
  { recent }: Comparison,
  subject: Pick<Finding, "method" | "metric">,
  evaluate: (window: Window) => WindowResult | undefined,
): Finding[] {
  const anomalous = recent.flatMap((window) => evaluate(window) ?? []).filter(({ isAnomalous }) => isAnomalous);
  if (anomalous.length < votesNeeded) return [];
  const { isAnomalous: _, ...numbers } = anomalous.at(-1)!;
  return [{ ...subject, ...numbers }];
}

/** Sums a value over windows. */
export function sumOf(windows: readonly Window[], of: (window: Window) => number): number {
  return windows.reduce((sum, window) => sum + of(window), 0);
}
