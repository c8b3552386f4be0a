import { type UnitValue, winsorize } from "../../analysis/index.ts";
import type { Metric } from "../../experiments/index.ts";

export interface CountedScore {
  readonly metric: string;
  readonly value: number;
  readonly denominator: number;
  readonly observedAtMs: number;
}

/** The value of a unit, from its scores of one metric; undefined if the unit is left out. */
export function unitValueOf(
  metric: Metric,
  scores: readonly CountedScore[],
  covariate: number | undefined,
): UnitValue | undefined {
  const value = rawValueOf(metric, scores);
  if (value === undefined) return undefined;
  return {
    value: winsorize(value, metric.winsorCap),
    ...(covariate !== undefined && { covariate }),
    ...(metric.type === "ratio" && { denominator: scores.reduce((sum, each) => sum + each.denominator, 0) }),
  };
}

function rawValueOf({ type, aggregation }: Metric, scores: readonly CountedScore[]): number | undefined {
  switch (type) {
    case "proportion":
    case "rare_event":
      return scores.some(({ value }) => value > 0) ? 1 : 0;
    case "count":
      return scores.length === 0 ? 0 : aggregate(aggregation, scores);
    case "mean":
    case "ratio":
      return scores.length === 0 ? undefined : aggregate(aggregation, scores);
  }
}

function aggregate(aggregation: Metric["aggregation"], scores: readonly CountedScore[]): number {
  const sum = scores.reduce((total, { value }) => total + value, 0);
  switch (aggregation) {
    case "sum":
      return sum;
    case "average":
      return sum / scores.length;
    case "max":
      // A unit can have more scores than a call can have arguments.
      return scores.reduce((max, { value }) => Math.max(max, value), Number.NEGATIVE_INFINITY);
    case "last":
      return scores.reduce((last, each) => (each.observedAtMs >= last.observedAtMs ? each : last)).value;
  }
}
