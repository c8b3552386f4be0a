// Measures the error rates and the power of experiments: npm run simulate [-- --size 0.1] [-- --seed 7]
//   --size N  Multiply the runs of every simulation (default 1, some minutes).
//   --seed N  Use other random numbers (default 1).
import { parseArgs } from "node:util";
import { simulations } from "../src/modules/experiments/analysis/testing/simulations.ts";
import { testIndependence } from "../src/modules/experiments/assignments/testing/assignment-independence.ts";

const { values: options } = parseArgs({
  options: { size: { type: "string", default: "1" }, seed: { type: "string", default: "1" } },
});
const [size, seed] = [Number(options.size), Number(options.seed)];
if (!(size > 0) || !Number.isInteger(seed)) {
  console.error("--size must be a positive number and --seed a whole number (for example: --size 0.1 --seed 7).");
  process.exit(1);
}

let failed = 0;
for (const { name, run } of simulations) {
  const { rates, holds } = run(size, seed);
  report(name, rates, holds);
}
const { experimentsP, allocationP, sampleRatioP } = testIndependence(1_000_000);
report(
  "assignment of 1,000,000 units (p-values)",
  { "two experiments": experimentsP, "allocation and variant": allocationP, "sample ratio": Math.min(...sampleRatioP) },
  Math.min(experimentsP, allocationP, ...sampleRatioP) >= 0.001,
);
process.exitCode = failed === 0 ? 0 : 1;

function report(name: string, rates: Record<string, number>, holds: boolean): void {
  if (!holds) failed++;
  const figures = Object.entries(rates).map(([what, rate]) => `${what} ${format(rate)}`);
  console.log(`${holds ? "ok  " : "FAIL"} ${name}: ${figures.join(", ")}`);
}

function format(rate: number): string {
  return rate > 1 ? rate.toFixed(0) : `${(100 * rate).toFixed(1)} %`;
}
