/** How the values of a metric are compared. Unscored units count as 0, or are left out and reported as missing. */
export type MetricType =
  /** A number per unit. Unscored units are left out. */
  | "mean"
  /** A number per unit, where unscored units count as 0. */
  | "count"
  /** 0 or 1 per unit, where unscored units count as 0. */
  | "proportion"
  /** The sum of numerators over the sum of denominators. Unscored units are left out. */
  | "ratio"
  /** A proportion whose events are too rare for the gate of proportions: an exact test of the relative rate. */
  | "rare_event";

/** Which change of the metric is an improvement. */
export type MetricDirection = "increase" | "decrease";

export type MetricRole = "success" | "guardrail";

export interface MetricPlan {
  key: string;
  type: MetricType;
  role: MetricRole;
  direction: MetricDirection;
  /**
   * How much worse a guardrail may get: an absolute difference of the metric, or for a rare event a relative one (0.5: half
   * as many events again). A success metric ignores it.
   */
  margin: number;
}

/** Parameters fixed when an experiment starts. */
export interface AnalysisPlan {
  /** The probability of a wrong winner that is accepted, usually 0.05. */
  alpha: number;
  /** Planned units of all variants. The sequences are narrowest there and valid everywhere. */
  plannedUnits: number;
  control: string;
  /** All variants, the control included, in the order of the results. */
  variants: readonly string[];
  metrics: readonly MetricPlan[];
}
