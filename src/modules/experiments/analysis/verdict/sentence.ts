import type { Analysis, Interval, MetricComparison, Needs, SampleRatio, VariantAnalysis } from "../analysis-result.ts";
import type { AnalysisPlan } from "../plan.ts";
import { isHarmed, isOpenGuardrail } from "./decision.ts";

/** Says in plain words what to do with a result. */
export function describeAnalysis(plan: AnalysisPlan, analysis: Omit<Analysis, "sentence">): string {
  const treatments = analysis.variants.filter(({ isControl }) => !isControl);
  if (analysis.verdict === "invalid") return describeMismatch(analysis.sampleRatio);
  if (treatments.length === 0) return "There is nothing to compare: the experiment has one variant.";
  switch (analysis.verdict) {
    case "winner":
      return describeWinner(treatments.find(({ variant }) => variant === analysis.winner)!);
    case "loser":
      return describeLosers(treatments);
    case "inconclusive":
      return describeInconclusive(plan, analysis.variants);
    case "insufficient":
      return describeInsufficient(treatments);
  }
}

function describeMismatch(sampleRatio: SampleRatio): string {
  const units = sampleRatio.arms.map(
    (arm) => `${quote(arm.variant)} has ${count(arm.units)} units instead of ${count(Math.round(arm.expected))}`,
  );
  return `Do not use these results: ${list(units, "and")}. Find out where units get lost, then start a new experiment.`;
}

function describeWinner(winner: VariantAnalysis): string {
  const better = winner.comparisons.filter(({ role, state }) => role === "success" && state === "better");
  const hasGuardrails = winner.comparisons.some(({ role }) => role === "guardrail");
  const guardrails = hasGuardrails ? ", and every guardrail is within its margin" : "";
  return `Ship ${quote(winner.variant)}: ${list(better.map(describeChange), "and")}${guardrails}.`;
}

function describeLosers(treatments: readonly VariantAnalysis[]): string {
  const reasons = treatments.map(
    ({ variant, comparisons }) =>
      `with ${quote(variant)}, ${list(comparisons.filter(isHarmed).map(describeChange), "and")}`,
  );
  return `Keep the control: ${reasons.join("; ")}.`;
}

function describeInconclusive(plan: AnalysisPlan, variants: readonly VariantAnalysis[]): string {
  const treatments = variants.filter(({ verdict }) => verdict === "inconclusive");
  const improved = treatments.find(({ comparisons }) =>
    comparisons.some(({ role, state }) => role === "success" && state === "better"),
  );
  if (improved !== undefined) {
    const better = improved.comparisons.filter(({ role, state }) => role === "success" && state === "better");
    const open = improved.comparisons.filter(isOpenGuardrail).map(({ key }) => key);
    const but = `${list(open, "and")} may still be worse than the margin allows`;
    return `Keep running: with ${quote(improved.variant)}, ${list(better.map(describeChange), "and")}, but ${but}.`;
  }
  const mature = variants.reduce((sum, variant) => sum + variant.mature, 0);
  if (!plan.metrics.some(({ role }) => role === "success")) return describeGuardrails(treatments);
  if (mature < plan.plannedUnits) {
    return `Keep running: no success metric is clearly better or worse yet, after ${count(mature)} of ${count(plan.plannedUnits)} planned units.`;
  }
  const ranges = treatments.flatMap(({ variant, comparisons }) =>
    comparisons
      .filter(({ role, state }) => role === "success" && state !== "insufficient")
      .map((comparison) => `${comparison.key} of ${quote(variant)} is ${describeRange(comparison)}`),
  );
  return `Stop without a winner, or run longer for a smaller difference: after all ${count(plan.plannedUnits)} planned units, ${list(ranges, "and")}.`;
}

function describeGuardrails(treatments: readonly VariantAnalysis[]): string {
  const open = new Set(
    treatments.flatMap(({ comparisons }) => comparisons.filter(isOpenGuardrail).map(({ key }) => key)),
  );
  if (open.size === 0)
    return "No harm found: every guardrail is within its margin. Without a success metric, nothing can win.";
  return `Keep running: ${list([...open], "and")} may still be worse than the margin allows.`;
}

function describeInsufficient(treatments: readonly VariantAnalysis[]): string {
  // The treatments usually lack the same. Each metric is mentioned once.
  const lacking = new Map<string, string>();
  for (const { verdict, comparisons } of treatments) {
    if (verdict !== "insufficient") continue;
    for (const { key, state, needs, notes } of comparisons) {
      if (state !== "insufficient" || lacking.has(key)) continue;
      if (needs !== null) lacking.set(key, `${key} needs ${describeNeeds(needs)}`);
      else
        lacking.set(key, notes.includes("no_events") ? `${key} has no events yet` : `${key} has only equal values yet`);
    }
  }
  return `Wait for more data: ${list([...lacking.values()], "and")}.`;
}

function describeNeeds({ units, events, nonEvents }: Needs): string {
  const parts = [
    ...(units > 0 ? [`${count(units)} more ${units === 1 ? "unit" : "units"} with a value other than 0`] : []),
    ...(events > 0 ? [`${count(events)} more ${events === 1 ? "event" : "events"}`] : []),
    ...(nonEvents > 0 ? [`${count(nonEvents)} more ${nonEvents === 1 ? "unit" : "units"} without an event`] : []),
  ];
  return `${list(parts, "and")} per variant`;
}

/** For example: "conversion is 12 % higher (4 % to 20 % higher)". */
function describeChange(comparison: MetricComparison): string {
  const { key, lift, difference } = comparison;
  if (lift !== null) return `${key} is ${signed(lift, percent)} (${describeRange(comparison)})`;
  if (difference !== null) return `${key} is ${signed(difference, decimal)} (${describeRange(comparison)})`;
  return `${key} occurred only with this variant`;
}

function describeRange({ liftInterval, interval }: MetricComparison): string {
  if (liftInterval !== null) return range(liftInterval, percent);
  return interval === null ? "open at one end" : range(interval, decimal);
}

function range({ lower, upper }: Interval, format: (value: number) => string): string {
  if (lower < 0 && upper > 0) return `between ${signed(lower, format)} and ${signed(upper, format)}`;
  const [near, far] = Math.abs(lower) < Math.abs(upper) ? [lower, upper] : [upper, lower];
  return `${format(Math.abs(near))} to ${signed(far, format)}`;
}

function signed(value: number, format: (value: number) => string): string {
  return `${format(Math.abs(value))} ${value < 0 ? "lower" : "higher"}`;
}

function percent(value: number): string {
  return `${decimal(value * 100)} %`;
}

/** Three significant digits, and all digits before the point. */
function decimal(value: number): string {
  if (value >= 1000) return count(value);
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** With commas between thousands. `toLocaleString` takes 50 µs. */
function count(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

function quote(variant: string): string {
  return `"${variant}"`;
}

function list(items: readonly string[], conjunction: string): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} ${conjunction} ${items.at(-1)}`;
}
