import { fail } from "../../../../errors/index.ts";
import { type Design, type Experiment, type ExperimentChange, type Phase, phasesMax } from "./experiment.ts";

/** The design after a change. */
export function changedDesign(current: Design, { design, removesLayer }: ExperimentChange): Design {
  const set = Object.fromEntries(Object.entries(design).filter(([, value]) => value !== undefined));
  const { layer, ...merged } = { ...current, ...set } as Design;
  return removesLayer || layer === undefined ? merged : { ...merged, layer };
}

/** Changeable fields of a started experiment. Of variants, only weights, descriptions and values can change. */
const changeable = new Set(["variants", "allocationPct", "expectedUnitsPerDay"]);

const fieldNames: Readonly<Record<string, string>> = {
  unit: "unit",
  control: "control",
  targeting: "targeting",
  metrics: "metric_set",
  scoreWindowS: "score_window_s",
  layer: "layer",
  plannedUnits: "planned_units",
  alpha: "alpha",
};

/** Throws FAILED_PRECONDITION if a started experiment does not allow the change. */
export function checkStartedChange({ status, design }: Experiment, wanted: Design): void {
  const refuse = (field: string): never => {
    throw fail("FAILED_PRECONDITION", {
      public: `The experiment is ${status}: ${field} was fixed by its start. Only name, description, allocation_pct, and the weights, descriptions and values of variants can change. For another design, end it and create another experiment.`,
    });
  };
  for (const field of new Set([...Object.keys(design), ...Object.keys(wanted)]) as Set<keyof Design>) {
    if (!changeable.has(field) && JSON.stringify(design[field]) !== JSON.stringify(wanted[field])) {
      refuse(fieldNames[field] ?? field);
    }
  }
  const keys = (each: Design) => each.variants.map(({ key }) => key).join(" ");
  if (keys(design) !== keys(wanted)) refuse("variant_set (the keys and their order)");
}

/** The phases after a change of weights or allocation; the same list if neither changes. */
export function nextPhases(phases: readonly Phase[], design: Design, nowMs: number): readonly Phase[] {
  const weights = design.variants.map(({ weight }) => weight);
  const { allocationPct } = design;
  const last = phases.at(-1);
  if (last?.allocationPct === allocationPct && last.weights.every((weight, at) => weight === weights[at])) {
    return phases;
  }
  if (phases.length >= phasesMax) {
    throw fail("FAILED_PRECONDITION", {
      public: `The experiment had ${phasesMax} phases already. End it and create another one.`,
    });
  }
  return [...phases, { number: phases.length + 1, weights, allocationPct, startedAt: new Date(nowMs).toISOString() }];
}
