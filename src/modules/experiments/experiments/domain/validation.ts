import type { Violation } from "../../../../errors/index.ts";
import { CelError, type CelVariables, compileCel } from "../../../../platform/cel/index.ts";
import { sampleSize } from "../../analysis/index.ts";
import type { Design, Metric, Variant } from "./experiment.ts";

export const targetingVariables: CelVariables = { unit: "string", attributes: "map" };

/** The result of a check of a draft. */
export interface DraftPlan {
  readonly violations: readonly Violation[];
  /** Hints that are not violations. */
  readonly notes: readonly string[];
  /** Units that find the minimum lifts; 0 if unknown. */
  readonly minimumUnits: number;
  /** Days until those units are counted; 0 if unknown. */
  readonly expectedDays: number;
}

const valueBytesMax = 4096;
const power = 0.8;
const dayS = 86_400;

/** Checks a design and estimates its sample size and duration. */
export function checkDesign(design: Design): DraftPlan {
  const violations = [
    ...checkVariants(design.variants),
    ...checkControl(design),
    ...checkTargeting(design.targeting),
    ...design.metrics.flatMap((metric, index) => checkMetric(metric, `metrics[${index}]`)),
    ...duplicates(design.metrics, "metrics"),
  ];
  if (violations.length > 0) return { violations, notes: [], minimumUnits: 0, expectedDays: 0 };
  const estimate = estimateOf(design);
  const minimumUnits = estimate?.units ?? 0;
  return { violations, notes: notesOf(design, minimumUnits), minimumUnits, expectedDays: estimate?.days ?? 0 };
}

function checkVariants(variants: readonly Variant[]): Violation[] {
  const violations = duplicates(variants, "variants");
  if (!variants.some(({ weight }) => weight > 0)) {
    const message = "must have at least one weight above 0 (for example: 50 and 50)";
    violations.push({ field: "variants", rule: "weights", message });
  }
  for (const [index, { value }] of variants.entries()) {
    if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= valueBytesMax) continue;
    const message = `must have at most ${valueBytesMax} bytes as JSON`;
    violations.push({ field: `variants[${index}].value`, rule: "max_bytes", message });
  }
  return violations;
}

function duplicates(items: readonly { readonly key: string }[], field: string): Violation[] {
  return items.flatMap(({ key }, index) =>
    items.findIndex((each) => each.key === key) === index
      ? []
      : [{ field: `${field}[${index}].key`, rule: "unique", message: `must be unique; "${key}" is there already` }],
  );
}

function checkControl({ variants, control }: Design): Violation[] {
  if (variants.some(({ key }) => key === control)) return [];
  const known = variants.map(({ key }) => key).join(", ");
  return [{ field: "control", rule: "unknown", message: `must be the key of a variant: ${known}` }];
}

function checkTargeting(targeting: string): Violation[] {
  if (targeting === "") return [];
  try {
    compileCel(targeting, targetingVariables, "bool");
    return [];
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { kind, position } = error;
    const place = position === undefined ? "" : `line ${position.line}, column ${position.column}: `;
    return [{ field: "targeting", rule: `cel.${kind}`, message: `${place}${error.message}` }];
  }
}

function checkMetric(metric: Metric, field: string): Violation[] {
  const violations: Violation[] = [];
  const add = (name: string, rule: string, message: string) =>
    violations.push({ field: `${field}.${name}`, rule, message });
  const isShare = metric.type === "proportion" || metric.type === "rare_event";
  if (metric.role === "success" && metric.margin !== 0) {
    add("margin", "guardrail_only", "must be left out: only a guardrail has a margin");
  }
  if (metric.winsorCap !== undefined && isShare) {
    add("winsor_cap", "unsupported", `must be left out: a ${metric.type} is 0 or 1 per unit`);
  }
  if (metric.winsorCap !== undefined && metric.winsorCap <= 0) {
    add("winsor_cap", "range", "must be above 0 (for example: 1000)");
  }
  if (metric.type === "ratio" && metric.aggregation !== "sum") {
    add("aggregation", "unsupported", "must be sum: a ratio divides the sum of values by the sum of denominators");
  }
  if (isShare && metric.baseline !== undefined && (metric.baseline <= 0 || metric.baseline >= 1)) {
    add("baseline", "range", "must be a share between 0 and 1 (for example: 0.05)");
  }
  if (metric.baseline === 0) add("baseline", "range", "must not be 0, because the lift is relative to it");
  const isEstimated = metric.baseline !== undefined && metric.minimumLift !== undefined;
  if (isEstimated && !isShare && metric.baselineDeviation === undefined) {
    add("baseline_deviation", "required", `is required for the estimate of a ${metric.type}`);
  }
  return violations;
}

/** Estimates the units and days that the success metrics need; undefined if a baseline or a minimum lift is unknown. */
function estimateOf(design: Design): { readonly units: number; readonly days: number } | undefined {
  const { variants, control, alpha, metrics, scoreWindowS } = design;
  const measured = metrics.filter(({ role }) => role === "success");
  if (measured.length === 0 || variants.filter(({ weight }) => weight > 0).length < 2) return undefined;
  const share = (design.allocationPct / 100) * ((design.layer?.pct ?? 100) / 100);
  const { units, days } = sampleSize({
    ...{ alpha, power, control, scoreWindowDays: scoreWindowS / dayS },
    weights: Object.fromEntries(variants.map(({ key, weight }) => [key, weight])),
    metrics: measured.map(({ key, type, baseline, baselineDeviation, minimumLift, direction }) => ({
      ...{ key, type, baseline, standardDeviation: baselineDeviation },
      minimumLift: minimumLift !== undefined && direction === "decrease" ? -minimumLift : minimumLift,
    })),
    unitsPerDay: design.expectedUnitsPerDay * share || undefined,
  });
  return units === null ? undefined : { units, days: days ?? 0 };
}

function notesOf(design: Design, minimumUnits: number): string[] {
  const { variants, metrics, plannedUnits, scoreWindowS, allocationPct } = design;
  const notes: string[] = [];
  if (variants.length === 1) notes.push("It has one variant, so it is a feature flag: there is nothing to compare.");
  if (variants.length > 1 && metrics.length === 0) {
    notes.push("It has no metric, so that its results only count units.");
  }
  if (metrics.length > 0 && variants.length > 1 && !metrics.some(({ role }) => role === "success")) {
    notes.push("It has no success metric, so that no variant can win.");
  }
  if (metrics.length > 0 && scoreWindowS === 0) {
    notes.push(
      "Its score window is 0: scores count as they arrive, so that a variant that only acts sooner looks better for a while.",
    );
  }
  if (allocationPct === 0) notes.push("Its allocation is 0 percent, so that no unit enters it.");
  if (minimumUnits > plannedUnits) {
    notes.push(
      `planned_units is ${plannedUnits}, but about ${minimumUnits} units are needed; set it to at least that for narrower intervals.`,
    );
  }
  return notes;
}
