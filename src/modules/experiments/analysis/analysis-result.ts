import type { MetricMoments } from "./moments.ts";
import type { MetricRole } from "./plan.ts";

/** One variant in one phase. */
export interface ArmSummary {
  variant: string;
  /** Exposed units: the input of the sample-ratio check. */
  units: number;
  /** Units whose score window has passed. Only these are in the moments. */
  mature: number;
  /** By the key of the metric. A missing metric has no units. */
  metrics: Readonly<Record<string, MetricMoments>>;
}

/** The units that were first exposed under one set of weights. */
export interface PhaseSummary {
  /** By variant. Only the proportions matter. */
  weights: Readonly<Record<string, number>>;
  arms: readonly ArmSummary[];
}

export interface Interval {
  lower: number;
  upper: number;
}

/** Why a number is missing or was computed in another way. */
export type AnalysisNote =
  /** An arm has too few units, events or non-events. `needs` says how many are missing. */
  | "too_few_units"
  /** A rare event has not occurred in any arm. */
  | "no_events"
  /** The values of an arm are all equal, so there is no variance yet. */
  | "no_variance"
  /** The lift is withheld, because the mean of the control may be 0. */
  | "control_may_be_zero"
  /** The variance was reduced with the covariate. */
  | "covariate_used"
  /** Units without a score were left out. */
  | "unscored_left_out"
  /** A phase has too few units to be compared and was left out. */
  | "phase_left_out"
  /** The interval of a rare event has no upper end yet, because the control has no or hardly any events. */
  | "interval_unbounded";

/** The values of one metric in one variant, over all phases. */
export interface MetricEstimate {
  key: string;
  n: number;
  /** Mature units without a score that were left out. */
  missing: number;
  /** Null without units, as is the ratio of an empty denominator. */
  mean: number | null;
  /** Variance of the units' values; of a ratio, of its linearised values. */
  variance: number | null;
  /** The always-valid interval of the mean. */
  interval: Interval | null;
}

/** The state of one metric in one comparison. */
export type ComparisonState = "insufficient" | "inconclusive" | "better" | "worse";

/** How many more an arm needs before it is compared. */
export interface Needs {
  units: number;
  events: number;
  nonEvents: number;
}

/** One treatment against the control, on one metric. */
export interface MetricComparison {
  key: string;
  role: MetricRole;
  /** The error probability of this interval: alpha, divided among the success metrics and treatments. */
  alpha: number;
  state: ComparisonState;
  /** Of a guardrail: whether the interval excludes a harm beyond the margin. Null for a success metric. */
  withinMargin: boolean | null;
  /** Units that were compared, of both arms. */
  n: number;
  /** Treatment minus control. Null for a rare event, which has only a lift. */
  difference: number | null;
  interval: Interval | null;
  /** The relative difference: 0.1 is 10 % more than the control. */
  lift: number | null;
  liftInterval: Interval | null;
  /** Always-valid p-value. */
  p: number | null;
  notes: readonly AnalysisNote[];
  /** The shortfall of the arm that has least, with the note `too_few_units`. */
  needs: Needs | null;
}

export type Verdict = "insufficient" | "inconclusive" | "winner" | "loser" | "invalid";

export interface VariantAnalysis {
  variant: string;
  isControl: boolean;
  units: number;
  mature: number;
  metrics: readonly MetricEstimate[];
  /** Empty for the control. */
  comparisons: readonly MetricComparison[];
  /** Null for the control. */
  verdict: Verdict | null;
}

export interface SampleRatio {
  /** The smallest always-valid p-value so far. Below 0.001 the experiment is invalid. */
  p: number;
  isMismatch: boolean;
  arms: readonly { variant: string; units: number; expected: number }[];
}

export interface Analysis {
  verdict: Verdict;
  /** The treatment to ship, when the verdict is winner. */
  winner: string | null;
  /** Recommendation, in plain words. */
  sentence: string;
  sampleRatio: SampleRatio;
  variants: readonly VariantAnalysis[];
}

/** The smallest p-value of earlier analyses: a mismatch of the sample ratio never becomes valid again. */
export interface EarlierMinima {
  sampleRatioP?: number | undefined;
}
