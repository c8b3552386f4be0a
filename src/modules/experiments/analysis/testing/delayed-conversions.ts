/**
 * A treatment that converts sooner, but not more often. Counting a conversion when it arrives makes it a winner; counting
 * units whose score window has passed does not.
 */
import { gate } from "../comparison/arm-estimate.ts";
import { createSequence, criticalValue } from "../significance/confidence-sequence.ts";
import { createSeededRandom } from "./seeded-random.ts";

export interface DelayedConversions {
  rate: number;
  unitsPerDay: number;
  units: number;
  windowDays: number;
  /** Conversions arrive evenly within this time after the exposure. */
  controlDelayDays: number;
  treatmentDelayDays: number;
  plannedUnits: number;
  runs: number;
  seed: number;
}

export interface DelayedConversionsResult {
  /** Share of the runs in which the treatment ever was a winner. */
  matureCohorts: number;
  countedOnArrival: number;
}

interface Unit {
  exposedAt: number;
  isTreatment: boolean;
  /** Infinite without a conversion. */
  convertedAt: number;
}

export function simulateDelayedConversions(setup: DelayedConversions): DelayedConversionsResult {
  const sequence = createSequence(0.05, setup.plannedUnits);
  let [mature, arrival] = [0, 0];
  for (let run = 0; run < setup.runs; run++) {
    const units = drawUnits(setup, setup.seed * 1_000_003 + run);
    if (everWins(units, setup.windowDays, (n) => criticalValue(sequence, n))) mature++;
    if (everWins(units, undefined, (n) => criticalValue(sequence, n))) arrival++;
  }
  return { matureCohorts: mature / setup.runs, countedOnArrival: arrival / setup.runs };
}

function drawUnits(setup: DelayedConversions, seed: number): Unit[] {
  const random = createSeededRandom(seed);
  return Array.from({ length: setup.units }, (_, i) => {
    const exposedAt = i / setup.unitsPerDay;
    const isTreatment = random.unit() < 0.5;
    const delay = random.unit() * (isTreatment ? setup.treatmentDelayDays : setup.controlDelayDays);
    return { exposedAt, isTreatment, convertedAt: random.unit() < setup.rate ? exposedAt + delay : Infinity };
  });
}

/** Whether the treatment is a winner at any look. There is a look whenever a unit enters the analysis. */
function everWins(units: readonly Unit[], windowDays: number | undefined, critical: (n: number) => number): boolean {
  const isArrival = windowDays === undefined;
  const arrivals = isArrival ? [...units].sort((a, b) => a.convertedAt - b.convertedAt) : [];
  const control = { n: 0, events: 0 };
  const treatment = { n: 0, events: 0 };
  const armOf = (unit: Unit) => (unit.isTreatment ? treatment : control);
  let arrived = 0;
  for (const unit of units) {
    armOf(unit).n++;
    if (isArrival) {
      for (; arrived < arrivals.length && arrivals[arrived]!.convertedAt <= unit.exposedAt; arrived++) {
        armOf(arrivals[arrived]!).events++;
      }
    } else if (unit.convertedAt <= unit.exposedAt + windowDays) {
      armOf(unit).events++;
    }
    if ([control, treatment].some(({ n, events }) => events < gate || n - events < gate)) continue;
    const [a, b] = [control.events / control.n, treatment.events / treatment.n];
    const standardError = Math.sqrt((a * (1 - a)) / control.n + (b * (1 - b)) / treatment.n);
    if (b - a > standardError * critical(control.n + treatment.n)) return true;
  }
  return false;
}
