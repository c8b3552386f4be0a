import type { ExperimentService as Rpc } from "../../../../gen/service/api/experiment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { VariantAnalysis } from "../analysis/index.ts";
import { exportResults } from "./export.ts";
import { type Results, resultService } from "./service.ts";

export const resultHandlers = {
  async getExperimentResults(context, { experimentId }) {
    return { results: fromResults(await resultService.getResults(context, experimentId)) };
  },

  async getExperimentHistory(context, { experimentId }) {
    const history = await resultService.getHistory(context, experimentId);
    const points = history.map(({ at, point }) => ({
      ...{ ...point, at, matureUnits: point.mature },
      comparisons: point.comparisons.map((comparison) => ({ ...comparison, pValue: comparison.p })),
    }));
    return { history: { points } };
  },

  async exportExperimentResults(context, { experimentId, format }) {
    const results = await resultService.getResults(context, experimentId);
    return { export: exportResults(results, format === "json" ? "json" : "csv") };
  },
} satisfies Partial<Handlers<typeof Rpc>>;

function fromResults({ experiment, analysis, isFrozen, computedAt }: Results) {
  const { id, status, design } = experiment;
  const { variants, sampleRatio } = analysis;
  return {
    ...analysis,
    ...{ experimentId: id, status, winner: analysis.winner ?? "", frozen: isFrozen, computedAt },
    variants: variants.map(fromVariant),
    sampleRatio: { ...sampleRatio, pValue: sampleRatio.p, mismatch: sampleRatio.isMismatch },
    units: variants.reduce((sum, { units }) => sum + units, 0),
    matureUnits: variants.reduce((sum, { mature }) => sum + mature, 0),
    alpha: design.alpha,
    plannedUnits: design.plannedUnits,
  };
}

function fromVariant({ isControl, mature, verdict, metrics, comparisons, ...rest }: VariantAnalysis) {
  return {
    ...{ ...rest, control: isControl, matureUnits: mature, verdict: verdict ?? "" },
    metrics: metrics.map((estimate) => {
      const comparison = comparisons.find(({ key }) => key === estimate.key);
      return { ...estimate, metric: estimate.key, comparison: comparison && { ...comparison, pValue: comparison.p } };
    }),
  };
}
