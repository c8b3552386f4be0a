/**
 * Analysis: the statistics of experiments. Pure: moments in, an analysis out.
 *
 * Unit: what is assigned to a variant. Arm: the units of one variant, usually in one phase. Phase: the units that were first
 * exposed under one set of weights. Mature: the score window of the unit has passed. Moments: the mean and the variance of an
 * arm in a form that can be merged. Confidence sequence: intervals that all contain the true value at once with probability
 * 1 - alpha, however often somebody looks. Lift: the relative difference to the control. Sample ratio: whether the arms have
 * the sizes that the weights predict.
 */
export { analyse } from "./analysis.ts";
export type {
  Analysis,
  AnalysisNote,
  ArmSummary,
  ComparisonState,
  EarlierMinima,
  Interval,
  MetricComparison,
  MetricEstimate,
  Needs,
  PhaseSummary,
  SampleRatio,
  VariantAnalysis,
  Verdict,
} from "./analysis-result.ts";
export {
  compareFailures,
  compareMeans,
  excludesLoss,
  type FailureCount,
  type GuardrailTest,
  testFailureShare,
  testMean,
} from "./guardrail-tests.ts";
export {
  addToMoments,
  emptyMoments,
  isSummable,
  type MetricMoments,
  mergeMoments,
  momentFields,
  momentsOfUnit,
  removeFromMoments,
  summableRange,
  type UnitValue,
  winsorize,
} from "./moments.ts";
export type { AnalysisPlan, MetricDirection, MetricPlan, MetricRole, MetricType } from "./plan.ts";
export { type SampleSize, type SampleSizeMetric, type SampleSizeRequest, sampleSize } from "./sample-size.ts";
