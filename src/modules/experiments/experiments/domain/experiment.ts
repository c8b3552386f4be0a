import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { AnalysisPlan, EarlierMinima, MetricDirection, MetricRole, MetricType } from "../../analysis/index.ts";
import type { ExperimentStatus } from "./states.ts";

export type ExperimentId = string & { readonly __id: "experiment" };

export interface Variant {
  readonly key: string;
  readonly weight: number;
  readonly description: string;
  /** A value for callers; undefined for none. */
  readonly value?: Json | undefined;
}

/** How the scores of a unit become its value. */
export type Aggregation = "sum" | "last" | "average" | "max";

export interface Metric {
  readonly key: string;
  readonly type: MetricType;
  readonly role: MetricRole;
  readonly direction: MetricDirection;
  readonly margin: number;
  readonly winsorCap?: number | undefined;
  readonly aggregation: Aggregation;
  readonly baseline?: number | undefined;
  readonly baselineDeviation?: number | undefined;
  readonly minimumLift?: number | undefined;
}

/** A share of an exclusion layer. */
export interface Layer {
  readonly key: string;
  readonly pct: number;
}

/** An experiment as its author designs it. */
export interface Design {
  readonly unit: string;
  readonly variants: readonly Variant[];
  readonly control: string;
  readonly allocationPct: number;
  /** A CEL condition; empty for none. */
  readonly targeting: string;
  readonly metrics: readonly Metric[];
  readonly scoreWindowS: number;
  readonly layer?: Layer | undefined;
  readonly plannedUnits: number;
  readonly alpha: number;
  readonly expectedUnitsPerDay: number;
}

/** A period with the same weights and allocation. */
export interface Phase {
  readonly number: number;
  readonly weights: readonly number[];
  readonly allocationPct: number;
  readonly startedAt: string;
}

/** The decision of a completed experiment. */
export interface Decision {
  /** The variant for every unit from now on; empty for none. */
  readonly variant: string;
  readonly reason: string;
  readonly verdict: string;
  readonly decidedBy: string;
}

/** Separate salts make the decisions about a unit independent. */
export interface Salts {
  readonly allocation: string;
  readonly variant: string;
  readonly unit: string;
}

/** Slots of a layer: from (included) to (excluded). */
export type SlotRange = readonly [from: number, to: number];

/** A stored experiment. */
export interface Experiment extends Stamps {
  readonly tenantId: TenantId;
  readonly id: ExperimentId;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly status: ExperimentStatus;
  readonly design: Design;
  readonly salts: Salts;
  readonly layerRanges: readonly SlotRange[] | null;
  readonly phases: readonly Phase[];
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly decision: Decision | null;
  readonly minima: EarlierMinima;
  readonly lastVerdict: string;
}

export interface NewExperiment extends Pick<Experiment, "key" | "name" | "description" | "design"> {
  /** Empty for production. */
  readonly environmentId: string;
}

/** The fields that an update can change; undefined fields stay unchanged. */
export interface ExperimentChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly design: Partial<Design>;
  /** Whether the change removes the layer. */
  readonly removesLayer: boolean;
}

/** Maximum number of experiments per tenant that have not ended. */
export const openExperimentsMax = 1000;

/** Maximum number of phases of an experiment. */
export const phasesMax = 200;

/** Returns the part that the analysis needs. */
export function planOf({ alpha, plannedUnits, control, variants, metrics }: Design): AnalysisPlan {
  return {
    ...{ alpha, plannedUnits, control },
    variants: variants.map(({ key }) => key),
    metrics: metrics.map(({ key, type, role, direction, margin }) => ({ key, type, role, direction, margin })),
  };
}
