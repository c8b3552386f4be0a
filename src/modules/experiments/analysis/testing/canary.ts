/** A canary: a small treatment, rare events and a look after every unit. */
import { equalRatesP } from "../significance/exact-test.ts";
import { createSeededRandom } from "./seeded-random.ts";

export interface Canary {
  treatmentShare: number;
  controlRate: number;
  treatmentRate: number;
  units: number;
  runs: number;
  seed: number;
}

export interface CanaryResult {
  /** Share of the runs in which the exact test ever found a difference. */
  found: number;
  /** Units until then, on average and in 90 % of the runs that found one. */
  meanUnits: number;
  unitsOf90Percent: number;
}

export function simulateCanary(setup: Canary): CanaryResult {
  const stops: number[] = [];
  for (let run = 0; run < setup.runs; run++) {
    const stop = watch(setup, setup.seed * 1_000_003 + run);
    if (stop !== undefined) stops.push(stop);
  }
  stops.sort((a, b) => a - b);
  return {
    found: stops.length / setup.runs,
    meanUnits: stops.reduce((sum, stop) => sum + stop, 0) / stops.length,
    unitsOf90Percent: stops[Math.ceil(stops.length * 0.9) - 1] ?? Number.NaN,
  };
}

/** Units until the test found a difference. */
function watch(setup: Canary, seed: number): number | undefined {
  const random = createSeededRandom(seed);
  const counts = { control: 0, treatment: 0, treatmentShare: setup.treatmentShare };
  for (let n = 1; n <= setup.units; n++) {
    const isTreatment = random.unit() < setup.treatmentShare;
    if (random.unit() >= (isTreatment ? setup.treatmentRate : setup.controlRate)) continue;
    counts[isTreatment ? "treatment" : "control"]++;
    // The p-value changes only with an event, so this is a look after every unit.
    if (equalRatesP([counts]) <= 0.05) return n;
  }
  return undefined;
}
