import type {
  AnalysisNote,
  ComparisonState,
  Interval,
  MetricComparison,
  Needs,
  PhaseSummary,
} from "../analysis-result.ts";
import { emptyMoments, type MetricMoments } from "../moments.ts";
import type { AnalysisPlan, MetricPlan } from "../plan.ts";
import { alwaysValidP, createSequence, criticalValue } from "../significance/confidence-sequence.ts";
import { type EventCounts, equalRatesP, relativeRate } from "../significance/exact-test.ts";
import { type ArmEstimate, estimateArm, needsOf } from "./arm-estimate.ts";
import { createAdjustment } from "./covariate.ts";

/** A control and a treatment in one phase. */
interface Pair {
  control: MetricMoments;
  treatment: MetricMoments;
  /** The treatment's share of the units of both, by the weights. */
  treatmentShare: number;
}

/** The error probability of a metric: success metrics share alpha, because any of them can name any treatment the winner. */
export function alphaOf(plan: AnalysisPlan, metric: MetricPlan): number {
  if (metric.role === "guardrail") return plan.alpha;
  const successMetrics = plan.metrics.filter(({ role }) => role === "success").length;
  return plan.alpha / (successMetrics * Math.max(1, plan.variants.length - 1));
}

/** The planned units of some variants, by the weights of the first phase that has them all. */
export function plannedUnitsOf(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  variants: readonly string[],
): number {
  for (const { weights } of phases) {
    const chosen = variants.map((variant) => weights[variant] ?? 0);
    if (chosen.some((weight) => weight <= 0)) continue;
    const total = plan.variants.reduce((sum, variant) => sum + (weights[variant] ?? 0), 0);
    return (plan.plannedUnits * chosen.reduce((sum, weight) => sum + weight, 0)) / total;
  }
  return plan.plannedUnits;
}

export function momentsOf(phase: PhaseSummary, variant: string, key: string): MetricMoments {
  return phase.arms.find((arm) => arm.variant === variant)?.metrics[key] ?? emptyMoments();
}

/** The control and the treatment in each phase that has units of them. */
function pairsOf(plan: AnalysisPlan, phases: readonly PhaseSummary[], treatment: string, metric: MetricPlan): Pair[] {
  return phases.flatMap((phase) => {
    const control = momentsOf(phase, plan.control, metric.key);
    const treated = momentsOf(phase, treatment, metric.key);
    if (control.n + treated.n === 0) return [];
    const [controlWeight, weight] = [phase.weights[plan.control] ?? 0, phase.weights[treatment] ?? 0];
    return [{ control, treatment: treated, treatmentShare: weight / (controlWeight + weight) }];
  });
}

/** Compares a treatment with the control on one metric. The interval that is shown decides the state. */
export function compare(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  treatment: string,
  metric: MetricPlan,
): MetricComparison {
  return metric.type === "rare_event"
    ? compareRareEvents(plan, phases, treatment, metric)
    : compareMeans(plan, phases, treatment, metric);
}

function compareMeans(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  treatment: string,
  metric: MetricPlan,
): MetricComparison {
  const pairs = pairsOf(plan, phases, treatment, metric);
  const compared = pairs.filter((pair) => isEnough(needsOfPair(metric, pair)));
  const alpha = alphaOf(plan, metric);
  const base = { key: metric.key, role: metric.role, alpha };
  if (compared.length === 0) return { ...base, ...insufficient(["too_few_units"], leastNeeds(metric, pairs)) };

  const notes: AnalysisNote[] = [];
  if (compared.length < pairs.length) notes.push("phase_left_out");
  const adjustment = createAdjustment(
    metric.type,
    compared.map((pair) => [pair.control, pair.treatment]),
  );
  if (adjustment !== undefined) notes.push("covariate_used");
  const estimate = (arm: "control" | "treatment") =>
    stratify(
      compared.map((pair) => ({
        weight: pair.control.n + pair.treatment.n,
        arm:
          adjustment?.estimate(metric.type, pair[arm], [pair.control, pair.treatment]) ??
          estimateArm(metric.type, pair[arm]),
      })),
    );
  const [a, b] = [estimate("control"), estimate("treatment")];
  const standardError = Math.sqrt(a.meanVariance + b.meanVariance);
  // Denominators that cancel each other out have no ratio.
  if (!(a.meanVariance > 0 && b.meanVariance > 0 && Number.isFinite(standardError))) {
    return { ...base, ...insufficient([...notes, "no_variance"], null) };
  }

  const n = a.n + b.n;
  const sequence = createSequence(alpha, plannedUnitsOf(plan, phases, [plan.control, treatment]));
  const difference = b.mean - a.mean;
  const critical = criticalValue(sequence, n);
  const interval = around(difference, standardError * critical);
  const lift = liftOf(a, b, critical);
  if (lift === undefined) notes.push("control_may_be_zero");
  return {
    ...base,
    state: stateOf(metric, interval),
    withinMargin: metric.role === "guardrail" ? isWithinMargin(metric, interval) : null,
    n,
    difference,
    interval,
    lift: lift?.lift ?? null,
    liftInterval: lift?.interval ?? null,
    p: alwaysValidP(sequence, n, difference / standardError),
    notes,
    needs: null,
  };
}

/**
 * Averages an arm over the phases, weighted by the units of both arms. Both arms use the same weights: a plain average would
 * mix the difference of the phases into the difference of the arms when the weights have changed.
 */
function stratify(strata: readonly { weight: number; arm: ArmEstimate }[]): ArmEstimate {
  const total = strata.reduce((sum, { weight }) => sum + weight, 0);
  let [n, mean, meanVariance] = [0, 0, 0];
  for (const { weight, arm } of strata) {
    const share = weight / total;
    n += arm.n;
    mean += share * arm.mean;
    meanVariance += share * share * arm.meanVariance;
  }
  return { n, mean, meanVariance };
}

/**
 * The relative difference with Fieller's interval: the ratios r that b - r·a does not exclude. A ratio of 1 is the difference
 * of 0, so that both intervals exclude "no change" at the same look. Undefined while the control's mean may be 0: then the
 * set of ratios is not an interval.
 */
function liftOf(a: ArmEstimate, b: ArmEstimate, critical: number): { lift: number; interval: Interval } | undefined {
  const denominator = a.mean ** 2 - critical ** 2 * a.meanVariance;
  if (!(denominator > 0)) return undefined;
  const centre = (a.mean * b.mean) / denominator;
  const halfWidth = (critical * Math.sqrt(denominator * b.meanVariance + b.mean ** 2 * a.meanVariance)) / denominator;
  // Relative to the size of the control, so that a lift is positive when the treatment is larger, even below 0.
  const sign = Math.sign(a.mean);
  return { lift: sign * (b.mean / a.mean - 1), interval: around(sign * (centre - 1), halfWidth) };
}

function compareRareEvents(
  plan: AnalysisPlan,
  phases: readonly PhaseSummary[],
  treatment: string,
  metric: MetricPlan,
): MetricComparison {
  const pairs = pairsOf(plan, phases, treatment, metric);
  const compared = pairs.filter(({ treatmentShare }) => treatmentShare > 0 && treatmentShare < 1);
  const counts: EventCounts[] = compared.map(({ control, treatment, treatmentShare }) => ({
    control: control.nonZero,
    treatment: treatment.nonZero,
    treatmentShare,
  }));
  const notes: AnalysisNote[] = compared.length < pairs.length ? ["phase_left_out"] : [];
  const alpha = alphaOf(plan, metric);
  const base = { key: metric.key, role: metric.role, alpha };
  if (counts.every(({ control, treatment }) => control + treatment === 0)) {
    return { ...base, ...insufficient([...notes, "no_events"], null) };
  }
  const rate = relativeRate(counts, alpha);
  const interval = { lower: rate.lower - 1, upper: rate.upper - 1 };
  const isBounded = Number.isFinite(interval.upper);
  if (!isBounded) notes.push("interval_unbounded");
  return {
    ...base,
    state: stateOf(metric, interval),
    withinMargin: metric.role === "guardrail" ? isWithinMargin(metric, interval) : null,
    n: compared.reduce((sum, { control, treatment }) => sum + control.n + treatment.n, 0),
    difference: null,
    interval: null,
    lift: Number.isFinite(rate.estimate) ? rate.estimate - 1 : null,
    liftInterval: isBounded ? interval : null,
    p: equalRatesP(counts),
    notes,
    needs: null,
  };
}

function needsOfPair(metric: MetricPlan, pair: Pair): Needs {
  const [a, b] = [pair.control, pair.treatment].map((arm) => needsOf(metric.type, arm, pair.treatmentShare)) as [
    Needs,
    Needs,
  ];
  return {
    units: Math.max(a.units, b.units),
    events: Math.max(a.events, b.events),
    nonEvents: Math.max(a.nonEvents, b.nonEvents),
  };
}

function sumOf(needs: Needs): number {
  return needs.units + needs.events + needs.nonEvents;
}

export function isEnough(needs: Needs): boolean {
  return sumOf(needs) === 0;
}

/** The needs of the phase that lacks least: once it has enough, there is a result. */
function leastNeeds(metric: MetricPlan, pairs: readonly Pair[]): Needs {
  const empty: Pair = { control: emptyMoments(), treatment: emptyMoments(), treatmentShare: 0.5 };
  const needs = (pairs.length === 0 ? [empty] : pairs).map((pair) => needsOfPair(metric, pair));
  return needs.reduce((least, candidate) => (sumOf(candidate) < sumOf(least) ? candidate : least));
}

function insufficient(
  notes: readonly AnalysisNote[],
  needs: Needs | null,
): Omit<MetricComparison, "key" | "role" | "alpha"> {
  return {
    state: "insufficient",
    withinMargin: null,
    n: 0,
    difference: null,
    interval: null,
    lift: null,
    liftInterval: null,
    p: null,
    notes,
    needs,
  };
}

function around(centre: number, halfWidth: number): Interval {
  return { lower: centre - halfWidth, upper: centre + halfWidth };
}

function stateOf(metric: MetricPlan, interval: Interval): ComparisonState {
  if (interval.lower > 0) return towards(metric, true);
  if (interval.upper < 0) return towards(metric, false);
  return "inconclusive";
}

function towards(metric: MetricPlan, isHigher: boolean): ComparisonState {
  return isHigher === (metric.direction === "increase") ? "better" : "worse";
}

/** Whether the interval excludes a harm beyond the margin. */
function isWithinMargin(metric: MetricPlan, interval: Interval): boolean {
  return metric.direction === "increase" ? interval.lower > -metric.margin : interval.upper < metric.margin;
}
