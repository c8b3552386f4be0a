import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type ExperimentResults, ExperimentResultsSchema } from "../../../../gen/service/api/experiment_pb.ts";
import type { MetricComparison, VariantAnalysis } from "../analysis/index.ts";
import type { Results } from "./service.ts";

export function fromResults({ experiment, analysis, isFrozen, computedAt }: Results): ExperimentResults {
  const { id, status, design } = experiment;
  const { verdict, winner, sentence, variants, sampleRatio } = analysis;
  return create(ExperimentResultsSchema, {
    ...{ experimentId: id, status, verdict, winner: winner ?? "", sentence, frozen: isFrozen },
    variants: variants.map(fromVariant),
    sampleRatio: {
      pValue: sampleRatio.p,
      mismatch: sampleRatio.isMismatch,
      arms: sampleRatio.arms.map(({ variant, units, expected }) => ({ variant, units: BigInt(units), expected })),
    },
    units: BigInt(variants.reduce((sum, { units }) => sum + units, 0)),
    matureUnits: BigInt(variants.reduce((sum, { mature }) => sum + mature, 0)),
    computedAt: timestampFromDate(computedAt),
    alpha: design.alpha,
    plannedUnits: design.plannedUnits,
  } as never);
}

function fromVariant({ variant, isControl, units, mature, verdict, metrics, comparisons }: VariantAnalysis) {
  return {
    ...{ variant, control: isControl, units: BigInt(units), matureUnits: BigInt(mature), verdict: verdict ?? "" },
    metrics: metrics.map(({ key, n, missing, mean, variance, interval }) => {
      const comparison = comparisons.find((each) => each.key === key);
      return {
        ...{ metric: key, n: BigInt(n), missing: BigInt(missing), mean: mean ?? undefined },
        ...{ variance: variance ?? undefined, interval: interval ?? undefined },
        comparison: comparison && fromComparison(comparison),
      };
    }),
  };
}

function fromComparison(comparison: MetricComparison) {
  const { role, state, withinMargin, n, difference, interval, lift, liftInterval, p, alpha, notes, needs } = comparison;
  return {
    ...{ role, state, alpha, notes: [...notes], n: BigInt(n), withinMargin: withinMargin ?? undefined },
    ...{ difference: difference ?? undefined, interval: interval ?? undefined },
    ...{ lift: lift ?? undefined, liftInterval: liftInterval ?? undefined, pValue: p ?? undefined },
    needs: needs && {
      units: BigInt(needs.units),
      events: BigInt(needs.events),
      nonEvents: BigInt(needs.nonEvents),
    },
  };
}
