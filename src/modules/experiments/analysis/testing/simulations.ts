/** The error rates and the power that the analysis promises, measured. */
import type { UnitValue } from "../moments.ts";
import type { AnalysisPlan, MetricPlan } from "../plan.ts";
import { simulateCanary } from "./canary.ts";
import { simulateDelayedConversions } from "./delayed-conversions.ts";
import { distributions } from "./distributions.ts";
import { type PeekingSetup, simulatePeeking } from "./peeking-simulation.ts";
import { simulateSampleRatio } from "./sample-ratio-looks.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { type SimulatedExperiment, simulateExperiments } from "./whole-analysis.ts";

export interface Simulation {
  name: string;
  /** The size at which the simulation takes about a second or less. */
  shortSize: number;
  /** `size` multiplies the runs. */
  run(size: number, seed: number): SimulationOutcome;
}

export interface SimulationOutcome {
  /** Rates by what they measure. */
  rates: Record<string, number>;
  /** Whether the promise holds. */
  holds: boolean;
}

const falseMax = 0.05;

export const simulations: readonly Simulation[] = [
  ...distributions.map(({ name, type, draw }) =>
    // Events of 0.2 % need 25,000 units until the gate opens.
    peeking(`no difference, ${name}`, 1000, { type, draw, units: name === "Bernoulli 0.002" ? 60_000 : 20_000 }),
  ),
  ...distributions
    .filter(({ type }) => type === "mean")
    .map(({ name, draw }) =>
      peeking(`no difference, ${name}, 5 % treated`, 500, { type: "mean", draw, treatmentShare: 0.05, units: 30_000 }),
    ),
  {
    name: "a difference of 0.05 standard deviations",
    shortSize: 0.2,
    run(size, seed) {
      const draw = (random: SeededRandom, isTreatment: boolean) => random.normal() + (isTreatment ? 0.05 : 0);
      const { sequence } = simulatePeeking({
        ...evenly,
        type: "mean",
        draw,
        units: 20_000,
        runs: scaled(1000, size),
        seed,
      });
      return { rates: { found: sequence }, holds: sequence >= 0.7 };
    },
  },
  {
    name: "canary, 5 % treated, 1 % events in both arms",
    shortSize: 0.2,
    run(size, seed) {
      const setup = { ...canary, treatmentRate: 0.01, runs: scaled(2000, size), seed };
      const exact = simulateCanary(setup).found;
      const proportion = (isUngated: boolean) =>
        simulatePeeking({
          ...evenly,
          type: "proportion",
          draw: (random) => (random.unit() < 0.01 ? 1 : 0),
          treatmentShare: 0.05,
          units: 20_000,
          runs: scaled(400, size),
          seed,
          isUngated,
        }).sequence;
      const gated = proportion(false);
      return {
        rates: { "exact false": exact, "proportion false": gated, "proportion without gate": proportion(true) },
        holds: exact <= falseMax && gated <= falseMax,
      };
    },
  },
  {
    name: "canary, 5 % treated, 1 % events against 3 %",
    shortSize: 0.2,
    run(size, seed) {
      const { found, meanUnits } = simulateCanary({ ...canary, treatmentRate: 0.03, runs: scaled(2000, size), seed });
      return { rates: { found, "mean units": meanUnits }, holds: found >= 0.9 };
    },
  },
  {
    name: "conversions come sooner, not more often",
    shortSize: 0.05,
    run(size, seed) {
      const { matureCohorts, countedOnArrival } = simulateDelayedConversions({
        rate: 0.1,
        unitsPerDay: 200,
        units: 12_000,
        windowDays: 14,
        controlDelayDays: 14,
        treatmentDelayDays: 7,
        plannedUnits: 5_000,
        runs: scaled(1000, size),
        seed,
      });
      return {
        rates: { "winners, mature cohorts": matureCohorts, "winners, counted on arrival": countedOnArrival },
        holds: matureCohorts <= falseMax,
      };
    },
  },
  {
    name: "sample ratio, nothing lost",
    shortSize: 0.2,
    run(size, seed) {
      const { sequential, chiSquare } = simulateSampleRatio({ ...ratio, lost: 0, runs: scaled(1000, size), seed });
      return { rates: { false: sequential, "chi-square false": chiSquare }, holds: sequential <= 0.01 };
    },
  },
  {
    name: "sample ratio, 10 % of the treatment lost",
    shortSize: 0.2,
    run(size, seed) {
      const { sequential } = simulateSampleRatio({ ...ratio, lost: 0.1, runs: scaled(400, size), seed });
      return { rates: { found: sequential }, holds: sequential >= 0.95 };
    },
  },
  ...(
    [
      [
        [50, 50],
        [95, 5],
      ],
      [
        [95, 5],
        [50, 50],
      ],
    ] as const
  ).map(([before, after]) => ({
    name: `no difference, weights from ${before.join("/")} to ${after.join("/")} while the mean moves`,
    shortSize: 0.05,
    run(size: number, seed: number) {
      const setup: SimulatedExperiment = {
        plan: plan([metric()]),
        phases: [
          { weights: { a: before[0], b: before[1] }, units: 3_000 },
          { weights: { a: after[0], b: after[1] }, units: 12_000 },
        ],
        draw: (random, _, phase) => ({ metric: { value: random.normal() + 0.5 * phase } }),
        unitsPerLook: 20,
        runs: scaled(400, size),
        seed,
      };
      const stratified = differences(setup);
      const pooled = differences({ ...setup, runs: scaled(100, size), isPooled: true });
      return { rates: { false: stratified, "phases pooled": pooled }, holds: stratified <= falseMax };
    },
  })),
  {
    name: "covariate with a correlation of 0.8, a tenth missing",
    shortSize: 0.05,
    run(size, seed) {
      const draw = (lift: number, hasCovariate: boolean) => (random: SeededRandom, variant: string) => {
        const x = random.normal();
        const value = 0.8 * x + 0.6 * random.normal() + (variant === "b" ? lift : 0);
        const covariate = hasCovariate && random.unit() >= 0.1 ? x : undefined;
        return { metric: { value, covariate } };
      };
      const rate = (lift: number, hasCovariate: boolean) =>
        differences({ ...even([metric()]), draw: draw(lift, hasCovariate), runs: scaled(400, size), seed });
      const [wrong, found, without] = [rate(0, true), rate(0.07, true), rate(0.07, false)];
      return {
        rates: { false: wrong, "0.07 found": found, "0.07 found without covariate": without },
        holds: wrong <= falseMax && found > without,
      };
    },
  },
  {
    name: "no difference, ratio of clicks and views",
    shortSize: 0.05,
    run(size, seed) {
      const wrong = differences({
        ...even([metric({ type: "ratio" })]),
        draw: drawClicks,
        runs: scaled(400, size),
        seed,
      });
      return { rates: { false: wrong }, holds: wrong <= falseMax };
    },
  },
  {
    name: "no difference, two treatments, two success metrics, a guardrail",
    shortSize: 0.05,
    run(size, seed) {
      const metrics = [metric({ key: "x" }), metric({ key: "y", direction: "decrease" }), guardrail];
      const { winner } = simulateExperiments({
        plan: { ...plan(metrics), variants: ["a", "b", "c"] },
        phases: [{ weights: { a: 1, b: 1, c: 1 }, units: 10_000 }],
        draw: (random) => ({
          x: { value: random.normal() },
          y: { value: random.normal() },
          guardrail: { value: random.normal() },
        }),
        unitsPerLook: 20,
        runs: scaled(400, size),
        seed,
      });
      return { rates: { winners: winner }, holds: winner <= falseMax };
    },
  },
];

const evenly = { treatmentShare: 0.5, plannedUnits: 5_000 };
const canary = { treatmentShare: 0.05, controlRate: 0.01, units: 20_000 };
const ratio = { treatmentShare: 0.5, units: 20_000 };
const guardrail = metric({ key: "guardrail", role: "guardrail", margin: 0.3 });

function peeking(
  name: string,
  runs: number,
  setup: Pick<PeekingSetup, "type" | "draw" | "units"> & Partial<PeekingSetup>,
): Simulation {
  return {
    name,
    shortSize: setup.treatmentShare === undefined ? 0.2 : 0.1,
    run(size, seed) {
      const { sequence, naive } = simulatePeeking({ ...evenly, ...setup, runs: scaled(runs, size), seed });
      return { rates: { false: sequence, "naive test false": naive }, holds: sequence <= falseMax };
    },
  };
}

function scaled(runs: number, size: number): number {
  return Math.max(1, Math.round(runs * size));
}

function metric(overrides: Partial<MetricPlan> = {}): MetricPlan {
  return { key: "metric", type: "mean", role: "success", direction: "increase", margin: 0, ...overrides };
}

function plan(metrics: readonly MetricPlan[]): AnalysisPlan {
  return { alpha: 0.05, plannedUnits: 5_000, control: "a", variants: ["a", "b"], metrics };
}

function even(metrics: readonly MetricPlan[]): Pick<SimulatedExperiment, "plan" | "phases" | "unitsPerLook"> {
  return { plan: plan(metrics), phases: [{ weights: { a: 1, b: 1 }, units: 10_000 }], unitsPerLook: 20 };
}

/** Share of the runs in which the treatment ever differed, in either direction. */
function differences(setup: SimulatedExperiment): number {
  return simulateExperiments(setup).different;
}

/** Views per unit are geometric, and units differ in how often they click. */
function drawClicks(random: SeededRandom): Record<string, UnitValue> {
  const views = 1 + Math.floor(-3 * Math.log(1 - random.unit()));
  const rate = Math.min(1, 0.3 * Math.exp(0.3 * random.normal()));
  let clicks = 0;
  for (let i = 0; i < views; i++) if (random.unit() < rate) clicks++;
  return { metric: { value: clicks, denominator: views } };
}
