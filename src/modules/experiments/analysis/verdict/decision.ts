import type { MetricComparison, VariantAnalysis, Verdict } from "../analysis-result.ts";
import type { AnalysisPlan } from "../plan.ts";

/**
 * Whether a metric is significantly worse. A guardrail that is worse by less than its margin is what the margin allows.
 */
export function isHarmed(comparison: MetricComparison): boolean {
  return comparison.state === "worse" && comparison.withinMargin !== true;
}

/** Whether a guardrail does not yet exclude a harm beyond its margin. */
export function isOpenGuardrail(comparison: MetricComparison): boolean {
  return comparison.role === "guardrail" && comparison.withinMargin !== true;
}

/** The verdict on one treatment. Harm goes first: a treatment that improves one metric and harms another is a loser. */
export function judgeTreatment(comparisons: readonly MetricComparison[]): Verdict {
  if (comparisons.some(isHarmed)) return "loser";
  const success = comparisons.filter(({ role }) => role === "success");
  if (success.some(({ state }) => state === "better") && !comparisons.some(isOpenGuardrail)) return "winner";
  const lacksGuardrail = comparisons.some(({ role, state }) => role === "guardrail" && state === "insufficient");
  const lacksSuccess = success.length > 0 && success.every(({ state }) => state === "insufficient");
  return lacksGuardrail || lacksSuccess ? "insufficient" : "inconclusive";
}

/** The verdict on the experiment: one winner is enough, but only all losers make a loser. */
export function judgeExperiment(isMismatch: boolean, treatments: readonly VariantAnalysis[]): Verdict {
  if (isMismatch) return "invalid";
  const verdicts = treatments.map(({ verdict }) => verdict);
  if (verdicts.includes("winner")) return "winner";
  if (verdicts.length === 0) return "inconclusive";
  if (verdicts.every((verdict) => verdict === "loser")) return "loser";
  return verdicts.includes("inconclusive") ? "inconclusive" : "insufficient";
}

/** The winning treatment with the greatest improvement of the first success metric that it improves. */
export function bestWinner(plan: AnalysisPlan, treatments: readonly VariantAnalysis[]): VariantAnalysis | undefined {
  const winners = treatments.filter(({ verdict }) => verdict === "winner");
  for (const metric of plan.metrics) {
    if (metric.role !== "success") continue;
    const sign = metric.direction === "increase" ? 1 : -1;
    const improvements = winners.flatMap((winner) => {
      const comparison = winner.comparisons.find(({ key }) => key === metric.key);
      if (comparison?.state !== "better") return [];
      return [{ winner, improvement: sign * (comparison.difference ?? comparison.lift ?? 0) }];
    });
    if (improvements.length === 0) continue;
    return improvements.reduce((best, next) => (next.improvement > best.improvement ? next : best)).winner;
  }
  return undefined;
}
