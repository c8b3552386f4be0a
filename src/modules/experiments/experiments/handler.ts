import type {
  CreateExperimentRequest,
  ExperimentMetric as ExperimentMetricMessage,
  ExperimentVariant as ExperimentVariantMessage,
  ExperimentService as Rpc,
  UpdateExperimentRequest,
  ValidateExperimentRequest,
} from "../../../../gen/service/api/experiment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import type { Json } from "../../../platform/document/index.ts";
import { valueToJson } from "../../../platform/protojson/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Design, Experiment, ExperimentChange, Metric, NewExperiment, Variant } from "./domain/experiment.ts";
import { possibleCalls } from "./domain/states.ts";
import type { ExperimentService } from "./service.ts";
import { experimentStore } from "./store.ts";

const windowDefaultS = 30 * 86_400;
const plannedUnitsDefault = 10_000;
const alphaDefault = 0.05;

export function experimentHandlers(service: ExperimentService) {
  return {
    async createExperiment(context, request) {
      return { experiment: fromExperiment(await service.createExperiment(context, toNewExperiment(request))) };
    },

    async validateExperiment(context, request) {
      const plan = await service.validateExperiment(context, toNewExperiment(request));
      return { plan: { ...plan, valid: plan.violations.length === 0 } };
    },

    async getExperiment(context, { experimentId }) {
      return { experiment: fromExperiment(await service.getExperiment(context, experimentId)) };
    },

    async listExperiments(context, request) {
      const { tenantId, sql, principal } = context;
      const { status, key, layer } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const filter = [status, environmentId, key, layer, inProduction];
      const page = await context.page("experiments", request, filter, (wanted) =>
        experimentStore(sql).list(tenantId, { status, environmentId, key, layer, inProduction }, wanted),
      );
      return { ...page, experiments: page.experiments.map(fromExperiment) };
    },

    async updateExperiment(context, request) {
      const { experimentId, recordVersion } = request;
      const version = expectedVersion(recordVersion);
      const experiment = await service.updateExperiment(context, experimentId, toChange(request), version);
      return { experiment: fromExperiment(experiment) };
    },

    async deleteExperiment(context, { experimentId }) {
      await service.deleteExperiment(context, experimentId);
      return {};
    },

    async startExperiment(context, { experimentId }) {
      return { experiment: fromExperiment(await service.startExperiment(context, experimentId)) };
    },

    async pauseExperiment(context, { experimentId }) {
      return { experiment: fromExperiment(await service.pauseExperiment(context, experimentId)) };
    },

    async completeExperiment(context, { experimentId, variant, reason }) {
      return { experiment: fromExperiment(await service.completeExperiment(context, experimentId, variant, reason)) };
    },

    async stopExperiment(context, { experimentId, reason }) {
      return { experiment: fromExperiment(await service.stopExperiment(context, experimentId, reason)) };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

function toNewExperiment(request: CreateExperimentRequest | ValidateExperimentRequest): NewExperiment {
  const { key, name, description, environmentId, unit, variants, control, targeting, metrics, layer } = request;
  const design: Design = {
    unit: unit || "user",
    variants: toVariants(variants),
    control: control || (variants[0]?.key ?? ""),
    allocationPct: request.allocationPct ?? 100,
    targeting,
    metrics: metrics.map(toMetric),
    scoreWindowS: request.scoreWindowS ?? windowDefaultS,
    ...(layer !== undefined && { layer: { key: layer.key, pct: layer.pct } }),
    plannedUnits: request.plannedUnits ?? plannedUnitsDefault,
    alpha: request.alpha ?? alphaDefault,
    expectedUnitsPerDay: request.expectedUnitsPerDay,
  };
  return { key, name: name || key, description, environmentId, design };
}

function toChange(request: UpdateExperimentRequest): ExperimentChange {
  const { name, description, unit, variantSet, control, allocationPct, targeting, metricSet, layer } = request;
  const { scoreWindowS, plannedUnits, alpha, expectedUnitsPerDay } = request;
  return {
    name,
    description,
    design: {
      unit,
      variants: variantSet && toVariants(variantSet.variants),
      control,
      allocationPct,
      targeting,
      metrics: metricSet?.metrics.map(toMetric),
      scoreWindowS,
      layer: layer === undefined || layer.key === "" ? undefined : { key: layer.key, pct: layer.pct },
      plannedUnits,
      alpha,
      expectedUnitsPerDay,
    } as Partial<Design>,
    removesLayer: layer?.key === "",
  };
}

function toVariants(variants: readonly ExperimentVariantMessage[]): Variant[] {
  const isEqual = variants.every(({ weight }) => weight === undefined);
  return variants.map(({ key, weight = isEqual ? 1 : undefined, description, value }, at) => {
    if (weight === undefined) {
      const message = "is required, because another variant has one; leave out all weights for equal shares";
      throw invalid(`variants[${at}].weight`, "required", message);
    }
    return { key, weight, description, ...(value !== undefined && { value: valueToJson(value) as Json }) };
  });
}

function toMetric(metric: ExperimentMetricMessage): Metric {
  const { key, type, role, direction, margin, winsorCap, aggregation, ...plan } = metric;
  return {
    key,
    type: type as Metric["type"],
    role: (role || "success") as Metric["role"],
    direction: (direction || "increase") as Metric["direction"],
    margin,
    ...(winsorCap !== undefined && { winsorCap }),
    aggregation: (aggregation || "sum") as Metric["aggregation"],
    ...(plan.baseline !== undefined && { baseline: plan.baseline }),
    ...(plan.baselineDeviation !== undefined && { baselineDeviation: plan.baselineDeviation }),
    ...(plan.minimumLift !== undefined && { minimumLift: plan.minimumLift }),
  };
}

const fromExperiment = (experiment: Experiment) => ({
  ...experiment.design,
  ...experiment,
  phases: experiment.phases.map((phase) => ({ ...phase, startedAt: new Date(phase.startedAt) })),
  possibleCalls: possibleCalls(experiment.status),
});
