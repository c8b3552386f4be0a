import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CompleteExperimentResponseSchema,
  type CreateExperimentRequest,
  CreateExperimentResponseSchema,
  DeleteExperimentResponseSchema,
  type Experiment as ExperimentMessage,
  type ExperimentMetric as ExperimentMetricMessage,
  ExperimentSchema,
  type ExperimentVariant as ExperimentVariantMessage,
  GetExperimentResponseSchema,
  ListExperimentsResponseSchema,
  PauseExperimentResponseSchema,
  type ExperimentService as Rpc,
  StartExperimentResponseSchema,
  StopExperimentResponseSchema,
  type UpdateExperimentRequest,
  UpdateExperimentResponseSchema,
  type ValidateExperimentRequest,
  ValidateExperimentResponseSchema,
} from "../../../../gen/service/api/experiment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Json } from "../../../platform/document/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { jsonToValue, valueToJson } from "../../../platform/protojson/index.ts";
import { expectedVersion, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { Design, Experiment, ExperimentChange, Metric, NewExperiment, Variant } from "./domain/experiment.ts";
import { possibleCalls } from "./domain/states.ts";
import type { ExperimentService } from "./service.ts";
import { experimentStore } from "./store.ts";

interface Dependencies {
  readonly service: ExperimentService;
  readonly cursors: Cursors;
}

type LifeMethods =
  | "createExperiment"
  | "validateExperiment"
  | "getExperiment"
  | "listExperiments"
  | "updateExperiment"
  | "deleteExperiment"
  | "startExperiment"
  | "pauseExperiment"
  | "completeExperiment"
  | "stopExperiment";

const windowDefaultS = 30 * 86_400;
const plannedUnitsDefault = 10_000;
const alphaDefault = 0.05;

export function experimentHandlers({ service, cursors }: Dependencies): Pick<Handlers<typeof Rpc>, LifeMethods> {
  return {
    async createExperiment(context, request) {
      const experiment = await service.createExperiment(context, toNewExperiment(request));
      return create(CreateExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async validateExperiment(context, request) {
      const checked = await service.validateExperiment(context, toNewExperiment(request));
      const { violations, notes, minimumUnits, expectedDays } = checked;
      const plan = {
        ...{ valid: violations.length === 0, violations: [...violations], notes: [...notes] },
        ...{ minimumUnits: BigInt(minimumUnits), expectedDays },
      };
      return create(ValidateExperimentResponseSchema, { plan });
    },

    async getExperiment(context, { experimentId }) {
      const experiment = await service.getExperiment(context, experimentId);
      return create(GetExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async listExperiments(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const { status, key, layer } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [status, environmentId, key, layer, inProduction] },
        ({ id }: Experiment) => id,
        (wanted) => experimentStore(sql).list(tenantId, { status, environmentId, key, layer, inProduction }, wanted),
      );
      return create(ListExperimentsResponseSchema, { ...page, experiments: page.items.map(fromExperiment) });
    },

    async updateExperiment(context, request) {
      const { experimentId, recordVersion } = request;
      const version = expectedVersion(recordVersion);
      const experiment = await service.updateExperiment(context, experimentId, toChange(request), version);
      return create(UpdateExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async deleteExperiment(context, { experimentId }) {
      await service.deleteExperiment(context, experimentId);
      return create(DeleteExperimentResponseSchema);
    },

    async startExperiment(context, { experimentId }) {
      const experiment = await service.startExperiment(context, experimentId);
      return create(StartExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async pauseExperiment(context, { experimentId }) {
      const experiment = await service.pauseExperiment(context, experimentId);
      return create(PauseExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async completeExperiment(context, { experimentId, variant, reason }) {
      const experiment = await service.completeExperiment(context, experimentId, variant, reason);
      return create(CompleteExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },

    async stopExperiment(context, { experimentId, reason }) {
      const experiment = await service.stopExperiment(context, experimentId, reason);
      return create(StopExperimentResponseSchema, { experiment: fromExperiment(experiment) });
    },
  };
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

function fromExperiment(experiment: Experiment): ExperimentMessage {
  const { tenantId, id, environmentId, key, name, description, status, design, decision } = experiment;
  const { variants, metrics, layer, ...plan } = design;
  return create(ExperimentSchema, {
    ...{ id, tenantId, environmentId, key, name, description, status },
    ...plan,
    variants: variants.map(({ value, ...variant }) => ({
      ...variant,
      ...(value !== undefined && { value: jsonToValue(value) }),
    })),
    metrics: metrics.map((metric) => ({ ...metric })),
    layer: layer && { ...layer },
    phases: experiment.phases.map(({ number, weights, allocationPct, startedAt }) => ({
      ...{ number, weights: [...weights], allocationPct },
      startedAt: timestampFromDate(new Date(startedAt)),
    })),
    startedAt: optionalTime(experiment.startedAt),
    endedAt: optionalTime(experiment.endedAt),
    decision: decision ?? undefined,
    possibleCalls: [...possibleCalls(status)],
    ...stampFields(experiment),
  } as never);
}
