import { CelError, type CelExpression, compileCel, evaluateCondition } from "../../../platform/cel/index.ts";
import { type Experiment, isInRanges, targetingVariables, type Variant } from "../experiments/index.ts";
import { bucketCount, bucketOf, variantIndexOf } from "./domain/hash.ts";

/** An experiment, ready to assign units. */
export interface CompiledExperiment {
  readonly experiment: Experiment;
  readonly targeting: CelExpression | undefined;
  readonly layerSalt: string;
  /** Units below this bucket may enter. */
  readonly allocated: number;
  /** Units below this bucket may have entered in an earlier phase. */
  readonly everAllocated: number;
  readonly weights: readonly number[];
  readonly phase: number;
  readonly variantByKey: ReadonlyMap<string, Variant>;
}

/** Why a unit is not in an experiment. */
export type Exclusion = "not_targeted" | "targeting_failed" | "not_allocated" | "excluded_by_layer";

/** Whether a unit may enter: with this variant, only if it entered before, or not at all. */
export type Eligibility =
  | { readonly variant: number; readonly bucket: number }
  | { readonly only: "stored" }
  | { readonly excluded: Exclusion };

/** Prepares an experiment. */
export function compileExperiment(experiment: Experiment): CompiledExperiment {
  const { tenantId, environmentId, design, phases } = experiment;
  const bucketsOf = (pct: number) => Math.round((pct / 100) * bucketCount);
  return {
    experiment,
    targeting: design.targeting === "" ? undefined : compileCel(design.targeting, targetingVariables, "bool"),
    layerSalt: `${tenantId}/${environmentId}/${design.layer?.key ?? ""}`,
    allocated: bucketsOf(design.allocationPct),
    everAllocated: Math.max(0, ...phases.map(({ allocationPct }) => bucketsOf(allocationPct))),
    weights: design.variants.map(({ weight }) => weight),
    phase: phases.length,
    variantByKey: new Map(design.variants.map((variant) => [variant.key, variant])),
  };
}

/** Decides from memory whether a unit may enter. */
export function decideEligibility(
  compiled: CompiledExperiment,
  unit: string,
  attributes: Readonly<Record<string, unknown>>,
): Eligibility {
  const { experiment, targeting, allocated, everAllocated, weights } = compiled;
  const { salts, layerRanges } = experiment;
  if (targeting !== undefined) {
    try {
      if (!evaluateCondition(targeting, { unit, attributes })) return { excluded: "not_targeted" };
    } catch (error) {
      if (error instanceof CelError) return { excluded: "targeting_failed" };
      throw error;
    }
  }
  if (layerRanges !== null && !isInRanges(bucketOf(compiled.layerSalt, unit), layerRanges)) {
    return { excluded: "excluded_by_layer" };
  }
  if (everAllocated < bucketCount || allocated < bucketCount) {
    const position = bucketOf(salts.allocation, unit);
    if (position >= allocated) return position < everAllocated ? { only: "stored" } : { excluded: "not_allocated" };
  }
  const bucket = bucketOf(salts.variant, unit);
  return { variant: variantIndexOf(bucket, weights), bucket };
}
