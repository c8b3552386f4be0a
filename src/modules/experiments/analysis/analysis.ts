import type { Analysis, EarlierMinima, MetricEstimate, PhaseSummary, VariantAnalysis } from "./analysis-result.ts";
import { estimateArm, needsOf, valueVariance } from "./comparison/arm-estimate.ts";
import { alphaOf, compare, isEnough, momentsOf, plannedUnitsOf } from "./comparison/comparison.ts";
import { emptyMoments, mergeMoments } from "./moments.ts";
import type { AnalysisPlan, MetricPlan } from "./plan.ts";
import { checkSampleRatio } from "./sample-ratio.ts";
import { createSequence, criticalValue } from "./significance/confidence-sequence.ts";
import { bestWinner, judgeExperiment, judgeTreatment } from "./verdict/decision.ts";
import { describeAnalysis } from "./verdict/sentence.ts";

/** Analyses the moments of all phases, oldest first. The plan must not change once the experiment has started. */
export function analyse(plan: AnalysisPlan, phases: readonly PhaseSummary[], earlier: EarlierMinima = {}): Analysis {
  const sampleRatio = checkSampleRatio(plan.variants, phases, earlier.sampleRatioP);
  const variants = plan.variants.map((variant) => analyseVariant(plan, phases, variant, sampleRatio.isMismatch));
  const treatments = variants.filter(({ isControl }) => !isControl);
  const verdict = judgeExperiment(sampleRatio.isMismatch, treatments);
  const analysis = {
    verdict,
    winner: verdict === "winner" ? (bestWinner(plan, treatments)?.variant ?? null) : null,
    sampleRatio,
    variants,
  };
  return { ...analysis, sentence: describeAnalysis(plan, analysis) };
}

function analyseVariant(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  variant: string,
  isMismatch: boolean,
): VariantAnalysis {
  const arms = phases.flatMap((phase) => phase.arms.filter((arm) => arm.variant === variant));
  const mature = arms.reduce((sum, arm) => sum + arm.mature, 0);
  const metrics = plan.metrics.map((metric) => estimateMetric(plan, phases, variant, metric, mature));
  const isControl = variant === plan.control;
  const comparisons = isControl
    ? []
    : plan.metrics.map((metric, i) => {
        const comparison = compare(plan, phases, variant, metric);
        const isIncomplete = metrics[i]!.missing > 0;
        return isIncomplete
          ? { ...comparison, notes: [...comparison.notes, "unscored_left_out" as const] }
          : comparison;
      });
  return {
    variant,
    isControl,
    units: arms.reduce((sum, arm) => sum + arm.units, 0),
    mature,
    metrics,
    comparisons,
    verdict: isControl ? null : isMismatch ? "invalid" : judgeTreatment(comparisons),
  };
}

/** The metric in one variant, over all its units. The mean is not stratified, unlike those that are compared. */
function estimateMetric(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  variant: string,
  metric: MetricPlan,
  mature: number,
): MetricEstimate {
  const moments = phases.map((phase) => momentsOf(phase, variant, metric.key)).reduce(mergeMoments, emptyMoments());
  const { n } = moments;
  const estimate = estimateArm(metric.type, moments);
  const sequence = createSequence(alphaOf(plan, metric), plannedUnitsOf(plan, phases, [variant]));
  const halfWidth = Math.sqrt(estimate.meanVariance) * criticalValue(sequence, n);
  const hasInterval =
    metric.type !== "rare_event" &&
    isEnough(needsOf(metric.type, moments, 0.5)) &&
    halfWidth > 0 &&
    halfWidth < Infinity;
  return {
    key: metric.key,
    n,
    missing: Math.max(0, mature - n),
    mean: n > 0 && Number.isFinite(estimate.mean) ? estimate.mean : null,
    variance: n > 0 ? finite(valueVariance(metric.type, moments)) : null,
    interval: hasInterval ? { lower: estimate.mean - halfWidth, upper: estimate.mean + halfWidth } : null,
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
