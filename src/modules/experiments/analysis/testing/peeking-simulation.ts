/**
 * Two arms, with a look after every unit. The loop repeats the formula of the sequence, because a whole analysis after each
 * of 140,000,000 units takes too long. `analyse` confirms the first difference that the loop finds, and the last look.
 */
import assert from "node:assert/strict";
import { analyse } from "../analysis.ts";
import { gate, meanGate } from "../comparison/arm-estimate.ts";
import { addToMoments, emptyMoments, type MetricMoments } from "../moments.ts";
import type { AnalysisPlan } from "../plan.ts";
import { createSequence, criticalValue } from "../significance/confidence-sequence.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";

/** Two arms and how often they are looked at. */
export interface PeekingSetup {
  type: "mean" | "proportion";
  draw(random: SeededRandom, isTreatment: boolean): number;
  /** The treatment's share of the units. */
  treatmentShare: number;
  units: number;
  plannedUnits: number;
  runs: number;
  seed: number;
  /** Looks from the first units on, to show what the gate prevents. */
  isUngated?: boolean;
}

export interface PeekingResult {
  /** Share of the runs in which the confidence sequence ever excluded 0. */
  sequence: number;
  /** Share of the runs in which a test for a fixed sample size was ever significant at 5 %. */
  naive: number;
}

const alpha = 0.05;

/** Even a naive analyst waits for some units. */
const naiveFrom = 100;

export function simulatePeeking(setup: PeekingSetup): PeekingResult {
  const sequence = createSequence(alpha, setup.plannedUnits);
  const criticalSquares = new Float64Array(setup.units + 1);
  for (let n = 1; n <= setup.units; n++) criticalSquares[n] = criticalValue(sequence, n) ** 2;
  let [sequenceFound, naiveFound] = [0, 0];
  for (let run = 0; run < setup.runs; run++) {
    const found = peek(setup, criticalSquares, createSeededRandom(setup.seed * 1_000_003 + run));
    if (found.sequence) sequenceFound++;
    if (found.naive) naiveFound++;
  }
  return { sequence: sequenceFound / setup.runs, naive: naiveFound / setup.runs };
}

function peek(setup: PeekingSetup, criticalSquares: Float64Array, random: SeededRandom) {
  const [a, b] = [emptyMoments(), emptyMoments()];
  const found = { sequence: false, naive: false };
  const isProportion = setup.type === "proportion";
  const needed = isProportion ? gate : meanGate(setup.treatmentShare);
  const isOpen = ({ n, nonZero }: MetricMoments) => nonZero >= needed && (!isProportion || n - nonZero >= needed);
  const unit = { value: 0 };
  for (let n = 1; n <= setup.units && !(found.sequence && found.naive); n++) {
    const isTreatment = random.unit() < setup.treatmentShare;
    unit.value = setup.draw(random, isTreatment);
    addToMoments(isTreatment ? b : a, unit);
    if (a.n < 2 || b.n < 2) continue;
    const squaredError = meanVariance(a, isProportion) + meanVariance(b, isProportion);
    const squaredZ = (b.mean - a.mean) ** 2 / squaredError;
    if (n >= naiveFrom && squaredZ > 1.959964 ** 2) found.naive = true;
    if (!setup.isUngated && !(isOpen(a) && isOpen(b))) continue;
    const isDifferent = squaredZ > criticalSquares[n]!;
    if (!setup.isUngated && (n === setup.units || (isDifferent && !found.sequence))) confirm(setup, a, b, isDifferent);
    if (isDifferent) found.sequence = true;
  }
  return found;
}

function meanVariance(arm: MetricMoments, isProportion: boolean): number {
  return isProportion ? (arm.mean * (1 - arm.mean)) / arm.n : arm.m2 / (arm.n - 1) / arm.n;
}

function confirm(setup: PeekingSetup, a: MetricMoments, b: MetricMoments, isDifferent: boolean): void {
  const plan: AnalysisPlan = {
    alpha,
    plannedUnits: setup.plannedUnits,
    control: "a",
    variants: ["a", "b"],
    metrics: [{ key: "metric", type: setup.type, role: "success", direction: "increase", margin: 0 }],
  };
  const arm = (variant: string, moments: MetricMoments) => ({
    variant,
    units: moments.n,
    mature: moments.n,
    metrics: { metric: moments },
  });
  const weights = { a: 1 - setup.treatmentShare, b: setup.treatmentShare };
  const state = analyse(plan, [{ weights, arms: [arm("a", a), arm("b", b)] }]).variants[1]!.comparisons[0]!.state;
  assert.equal(state === "better" || state === "worse", isDifferent);
}
