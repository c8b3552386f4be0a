/** Simulated experiments that are judged by the whole analysis at every look. */
import { analyse } from "../analysis.ts";
import type { Analysis, PhaseSummary, Verdict } from "../analysis-result.ts";
import { addToMoments, emptyMoments, type MetricMoments, mergeMoments, type UnitValue } from "../moments.ts";
import type { AnalysisPlan } from "../plan.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";

export interface SimulatedPhase {
  weights: Readonly<Record<string, number>>;
  units: number;
}

export interface SimulatedExperiment {
  plan: AnalysisPlan;
  phases: readonly SimulatedPhase[];
  /** The values of one unit by metric. */
  draw(random: SeededRandom, variant: string, phase: number): Record<string, UnitValue>;
  unitsPerLook: number;
  runs: number;
  seed: number;
  /** Merges the phases before the analysis, to show what the stratification prevents. */
  isPooled?: boolean;
}

/** Shares of the runs. */
export interface ExperimentRates {
  /** In which a treatment ever was a winner. */
  winner: number;
  /** In which a treatment ever was a winner or a loser. */
  different: number;
}

export function simulateExperiments(setup: SimulatedExperiment): ExperimentRates {
  let [winner, different] = [0, 0];
  for (let run = 0; run < setup.runs; run++) {
    const seen = new Set<Verdict>();
    runExperiment(setup, setup.seed * 1_000_003 + run, ({ verdict }) => {
      seen.add(verdict);
    });
    if (seen.has("winner")) winner++;
    if (seen.has("winner") || seen.has("loser")) different++;
  }
  return { winner: winner / setup.runs, different: different / setup.runs };
}

/** Runs one experiment and reports every look. */
export function runExperiment(
  setup: Omit<SimulatedExperiment, "runs" | "seed">,
  seed: number,
  onLook: (analysis: Analysis, units: number) => void,
): void {
  const random = createSeededRandom(seed);
  const summaries: PhaseSummary[] = [];
  let units = 0;
  for (const [index, { weights, units: phaseUnits }] of setup.phases.entries()) {
    const arms = setup.plan.variants.map((variant) => ({
      variant,
      units: 0,
      mature: 0,
      metrics: Object.fromEntries(setup.plan.metrics.map(({ key }) => [key, emptyMoments()])),
    }));
    summaries.push({ weights, arms });
    for (let i = 0; i < phaseUnits; i++) {
      const chosen = pick(random.unit(), weights);
      const arm = arms.find(({ variant }) => variant === chosen)!;
      arm.units++;
      arm.mature++;
      const values = setup.draw(random, arm.variant, index);
      for (const [key, value] of Object.entries(values)) addToMoments(arm.metrics[key]!, value);
      if (++units % setup.unitsPerLook === 0) {
        onLook(analyse(setup.plan, setup.isPooled ? [pool(summaries)] : summaries), units);
      }
    }
  }
}

function pick(draw: number, weights: Readonly<Record<string, number>>): string {
  const entries = Object.entries(weights);
  let left = draw * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [variant, weight] of entries) {
    left -= weight;
    if (left < 0) return variant;
  }
  return entries.at(-1)![0];
}

function pool(phases: readonly PhaseSummary[]): PhaseSummary {
  const variants = phases[0]!.arms.map(({ variant }) => variant);
  const arms = variants.map((variant) => {
    const parts = phases.flatMap((phase) => phase.arms.filter((arm) => arm.variant === variant));
    const metrics: Record<string, MetricMoments> = {};
    for (const part of parts) {
      for (const [key, moments] of Object.entries(part.metrics)) {
        metrics[key] = mergeMoments(metrics[key] ?? emptyMoments(), moments);
      }
    }
    const units = parts.reduce((sum, part) => sum + part.units, 0);
    return { variant, units, mature: units, metrics };
  });
  // Weights that fit the units, so that only the pooled means are judged.
  return { weights: Object.fromEntries(arms.map(({ variant, units }) => [variant, Math.max(units, 1)])), arms };
}
