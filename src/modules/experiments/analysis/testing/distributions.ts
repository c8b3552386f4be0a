import type { SeededRandom } from "./seeded-random.ts";

interface Distribution {
  name: string;
  type: "mean" | "proportion";
  draw(random: SeededRandom): number;
}

function bernoulli(rate: number): Distribution {
  return { name: `Bernoulli ${rate}`, type: "proportion", draw: (random) => (random.unit() < rate ? 1 : 0) };
}

/** The distributions on which the error rates are measured. */
export const distributions: readonly Distribution[] = [
  { name: "normal", type: "mean", draw: (random) => random.normal() },
  bernoulli(0.5),
  bernoulli(0.1),
  bernoulli(0.02),
  bernoulli(0.002),
  { name: "lognormal", type: "mean", draw: (random) => Math.exp(random.normal()) },
  {
    name: "zero-inflated lognormal",
    type: "mean",
    draw: (random) => (random.unit() < 0.95 ? 0 : Math.exp(random.normal())),
  },
];
