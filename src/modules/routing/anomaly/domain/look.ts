import type { Finding } from "./anomaly.ts";
import { baselineWindows, recentWindows, type Sample, type Window } from "./window.ts";

/** Windows as the methods look at them. */
export interface Look {
  /** What is usual, oldest first. */
  readonly baseline: readonly Window[];
  /** What is held against it, oldest first. */
  readonly recent: readonly Window[];
  /** How many outcomes the baseline must be made of. */
  readonly samplesMin: number;
  /** How many outcomes a window must have for its value to count: a sixth of that, five of thirty. */
  readonly windowMin: number;
}

/** How many windows of the baseline must count before its values can be compared. */
const comparableWindows = 8;

/** How many of the recent windows must stand out. */
const votesNeeded = 2;

/** Fewer failures than these say nothing, whatever share of a window they are. */
const failuresMin = 3;

/** Parts windows, oldest first, into what is usual and what is recent. */
export function lookAt(windows: readonly Window[], samplesMin: number): Look {
  const recent = windows.slice(-recentWindows);
  const baseline = windows.slice(0, -recentWindows).slice(-baselineWindows);
  return { baseline, recent, samplesMin, windowMin: Math.ceil(samplesMin / 6) };
}

/** Whether samples of the baseline are enough to compare others with. */
export function isEnough(usual: readonly Sample[], { samplesMin }: Look): boolean {
  return usual.length >= comparableWindows && usual.reduce((sum, { count }) => sum + count, 0) >= samplesMin;
}

/** Whether a window has failed often enough for its failures to mean something. */
export function hasFailures({ failures }: Window): boolean {
  return failures >= failuresMin;
}

/** What a method sees in one window. */
interface Sight extends Pick<Finding, "value" | "baseline" | "threshold"> {
  readonly standsOut: boolean;
}

/** The finding of a method that sees something in enough of the recent windows: the last of them tells its numbers. */
export function byVote(
  { recent }: Look,
  see: (window: Window) => Sight | undefined,
): Pick<Finding, "value" | "baseline" | "threshold"> | undefined {
  const seen = recent.flatMap((window) => see(window) ?? []).filter(({ standsOut }) => standsOut);
  if (seen.length < votesNeeded) return undefined;
  const { value, baseline, threshold } = seen.at(-1)!;
  return { value, baseline, threshold };
}

/** The sum of something over windows. */
export function sumOf(windows: readonly Window[], of: (window: Window) => number): number {
  return windows.reduce((sum, window) => sum + of(window), 0);
}
