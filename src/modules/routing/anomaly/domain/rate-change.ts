import type { Finding } from "./anomaly.ts";
import { byVote, hasFailures, type Look, sumOf } from "./look.ts";
import { judged } from "./window.ts";

/** By how many standard deviations a rate must fall short before it is no chance any more. */
const chanceDeviations = 3;

/**
 * Rates that have dropped by a share of what was usual: the success rate, and how much is done in a window.
 * The latter of whole pools only: how a pool's work is spread over its recipients is its strategy's doing.
 */
export function findRateChanges(look: Look, drop: number, ofPool: boolean): Finding[] {
  return [...successDrop(look, drop), ...(ofPool ? throughputDrop(look, drop) : [])];
}

function successDrop(look: Look, drop: number): Finding[] {
  const count = sumOf(look.baseline, judged);
  const successes = sumOf(look.baseline, (window) => window.successes);
  if (count < look.samplesMin || successes === 0) return [];
  const baseline = successes / count;
  const finding = byVote(look, (window) => {
    if (judged(window) < look.windowMin || !hasFailures(window)) return undefined;
    const value = window.successes / judged(window);
    const deviation = Math.sqrt((baseline * (1 - baseline)) / judged(window));
    const threshold = Math.min(baseline * (1 - drop), baseline - chanceDeviations * deviation);
    return { value, baseline, threshold, standsOut: value <= threshold };
  });
  return finding === undefined ? [] : [{ method: "rate_change", metric: "success_rate", ...finding }];
}

function throughputDrop(look: Look, drop: number): Finding[] {
  const count = sumOf(look.baseline, (window) => window.total);
  if (count < look.samplesMin) return [];
  const baseline = count / look.baseline.length;
  // Counts of what comes in by itself vary by the root of their mean.
  const threshold = Math.min(baseline * (1 - drop), baseline - chanceDeviations * Math.sqrt(baseline));
  const finding = byVote(look, ({ total }) => ({
    value: total,
    baseline,
    threshold,
    standsOut: total <= threshold,
  }));
  return finding === undefined ? [] : [{ method: "rate_change", metric: "throughput", ...finding }];
}
