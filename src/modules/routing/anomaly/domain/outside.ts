import type { Finding } from "./anomaly.ts";
import { byVote, hasFailures, isEnough, type Look } from "./look.ts";
import {
  deviationsPerMedianDeviation,
  deviationsPerQuartileRange,
  mean,
  median,
  medianAbsoluteDeviation,
  quantile,
  standardDeviation,
} from "./statistics.ts";
import { type MeasuredMetric, type Sample, sampleOf, type Window } from "./window.ts";

/** What a window's value is held against. */
interface Usual {
  /** The values of the baseline's windows that count, and those of the recent ones. */
  readonly baseline: readonly number[];
  readonly recent: readonly number[];
  /** The least spread that the window's value has by chance alone. */
  readonly chance: number;
  /** Which way is worse. */
  readonly sign: 1 | -1;
}

/** Says what is usual, and beyond which value a window stands out. */
export type BoundOf = (usual: Usual) => Pick<Finding, "baseline" | "threshold">;

const worse: Record<MeasuredMetric, Usual["sign"]> = { latency_ms: 1, success_rate: -1, cost: 1 };

/** The metrics whose values lie beyond a bound. */
export function findOutside(look: Look, method: "zscore" | "iqr", boundOf: BoundOf): Finding[] {
  return (Object.keys(worse) as MeasuredMetric[]).flatMap((metric) => {
    const countedIn = (window: Window) => {
      const sample = sampleOf(metric, window);
      return sample !== undefined && sample.count >= look.windowMin ? [sample] : [];
    };
    const samples = look.baseline.flatMap(countedIn);
    if (!isEnough(samples, look)) return [];
    const baseline = samples.map(({ value }) => value);
    const recent = look.recent.flatMap(countedIn).map(({ value }) => value);
    const sign = worse[metric];
    const finding = byVote(look, (window) => {
      const [sample] = countedIn(window);
      if (sample === undefined || (metric === "success_rate" && !hasFailures(window))) return undefined;
      const bound = boundOf({ baseline, recent, chance: chanceSpread(metric, samples, sample), sign });
      return { value: sample.value, ...bound, standsOut: sign * (sample.value - bound.threshold) > 0 };
    });
    return finding === undefined ? [] : [{ method, metric, ...finding }];
  });
}

/**
 * So many standard deviations from the mean. Where the usual values are all the same, the median deviation of all values
 * takes the deviation's place; it is never less than what chance gives.
 */
export function zscoreBound(limit: number): BoundOf {
  return ({ baseline: values, recent, chance, sign }) => {
    const baseline = mean(values);
    const deviation = standardDeviation(values);
    const spread = isNothing(deviation, baseline)
      ? deviationsPerMedianDeviation * medianAbsoluteDeviation([...values, ...recent])
      : deviation;
    return { baseline, threshold: baseline + sign * limit * Math.max(spread, chance) };
  };
}

/** So many interquartile ranges beyond the quartile on the worse side; the range is never less than what chance gives. */
export function iqrBound(multiplier: number): BoundOf {
  return ({ baseline: values, chance, sign }) => {
    const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
    const range = Math.max(high - low, deviationsPerQuartileRange * chance);
    return { baseline: median(values), threshold: (sign > 0 ? high : low) + sign * multiplier * range };
  };
}

/** Whether a deviation is no more than the last digits of the values that it was computed from. */
function isNothing(deviation: number, center: number): boolean {
  return deviation <= Math.abs(center) * 1e-9;
}

/** One part in a hundred of a value is nothing to speak of. */
const negligibleShare = 0.01;

/**
 * The least spread that a window's value has by chance: a mean varies the less the more outcomes it is made of. How far
 * single outcomes lie from each other is told by the windows of the baseline, each for itself.
 */
function chanceSpread(metric: MeasuredMetric, usual: readonly Sample[], { count }: Sample): number {
  const all = usual.reduce((sum, sample) => sum + sample.count, 0);
  const negligible = negligibleShare * Math.abs(median(usual.map(({ value }) => value)));
  if (metric === "success_rate") {
    const successes = usual.reduce((sum, sample) => sum + sample.value * sample.count, 0);
    // One success and one failure more: nobody succeeds always, or never.
    const rate = (successes + 1) / (all + 2);
    return Math.max(negligible, Math.sqrt((rate * (1 - rate)) / count));
  }
  const scatter = usual.reduce((sum, sample) => sum + sample.scatter, 0);
  return Math.max(negligible, Math.sqrt(scatter / Math.max(1, all - usual.length) / count));
}
