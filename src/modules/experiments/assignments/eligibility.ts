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

/** Whether a unit may enter: with this variant, only if it entered before (or else with this reason), or not at all. */
export type Eligibility =
  | { readonly variant: number; readonly bucket: number }
  | { readonly only: "stored"; readonly otherwise: Exclusion }
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

/**
 * Decides from memory whether a unit may enter. Targeting and the current allocation decide who enters. A unit that entered
 * stays, so one that they leave out is looked up, unless it can never have entered.
 */
export function decideEligibility(
  compiled: CompiledExperiment,
  unit: string,
  attributes: Readonly<Record<string, unknown>>,
): Eligibility {
  const { experiment, allocated, everAllocated, weights } = compiled;
  const { salts, layerRanges } = experiment;
  const untargeted = targetingExclusion(compiled, unit, attributes);
  if (layerRanges !== null && !isInRanges(bucketOf(compiled.layerSalt, unit), layerRanges)) {
    return { excluded: untargeted ?? "excluded_by_layer" };
  }
  const isPartial = everAllocated < bucketCount || allocated < bucketCount;
  const position = isPartial ? bucketOf(salts.allocation, unit) : 0;
  const otherwise = untargeted ?? (position >= allocated ? "not_allocated" : undefined);
  if (otherwise !== undefined)
    return position < everAllocated ? { only: "stored", otherwise } : { excluded: otherwise };
  const bucket = bucketOf(salts.variant, unit);
  return { variant: variantIndexOf(bucket, weights), bucket };
}

function targetingExclusion(
  { targeting }: CompiledExperiment,
  unit: string,
  attributes: Readonly<Record<string, unknown>>,
): Exclusion | undefined {
  if (targeting === undefined) return undefined;
  try {
    return evaluateCondition(targeting, { unit, attributes }) ? undefined : "not_targeted";
  } catch (error) {
    if (error instanceof CelError) return "targeting_failed";
    throw error;
  }
}
