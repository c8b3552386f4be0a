import type { Finding } from "./anomaly.ts";
import { byVote, type Look, sumOf } from "./look.ts";
import { judged, type Window } from "./window.ts";

/** How rarely a run of failures may come by chance before it stands out. */
const runChance = 1e-4;
const runMin = 5;

/** How many outcomes it takes to see that they alternate, and which share of them must differ from the one before. */
const alternationMin = 15;
const alternationShare = 0.9;
/** Whoever did so before does nothing new. */
const usualShareMax = 0.75;

/**
 * Patterns in what follows what.
 *
 * failure_run: so many failures in a row that, going by the usual share of failures, it happens once in 10,000 times.
 * alternation: success and failure take turns, at least nine times out of ten.
 */
export function findPatterns(look: Look): Finding[] {
  return sumOf(look.baseline, judged) < look.samplesMin ? [] : [...failureRuns(look), ...alternations(look)];
}

function failureRuns(look: Look): Finding[] {
  const failures = sumOf(look.baseline, (window) => window.failures);
  // One success and one failure more: nobody fails never, or always.
  const failureShare = (failures + 1) / (sumOf(look.baseline, judged) + 2);
  const threshold = Math.max(runMin, Math.ceil(Math.log(runChance) / Math.log(failureShare)));
  const baseline = look.baseline.reduce((longest, { failureRun }) => Math.max(longest, failureRun), 0);
  const finding = byVote(look, ({ failureRun: value }) => ({
    value,
    baseline,
    threshold,
    standsOut: value >= threshold,
  }));
  return finding === undefined ? [] : [{ method: "pattern", metric: "failure_run", ...finding }];
}

function alternations(look: Look): Finding[] {
  const turns = sumOf(look.baseline, turnsOf);
  const baseline = turns === 0 ? 0 : sumOf(look.baseline, (window) => window.flips) / turns;
  if (baseline >= usualShareMax) return [];
  const finding = byVote(look, (window) => {
    if (judged(window) < alternationMin) return undefined;
    const value = window.flips / turnsOf(window);
    return { value, baseline, threshold: alternationShare, standsOut: value >= alternationShare };
  });
  return finding === undefined ? [] : [{ method: "pattern", metric: "alternation", ...finding }];
}

/** How often one outcome of a window could have differed from the one before. */
function turnsOf(window: Window): number {
  return Math.max(0, judged(window) - 1);
}
