/** Assigns many units to two experiments and tests whether the assignments are independent and have the right sizes. */
import { analyse } from "../../analysis/index.ts";
import { bucketCount, bucketOf, variantIndexOf } from "../domain/hash.ts";

export interface AssignmentIndependence {
  /** The p-value that the variants of two experiments are independent. */
  experimentsP: number;
  /** The p-value that the variant is independent of the allocation of the same experiment. */
  allocationP: number;
  /** The sequential p-values of the sample ratios, of both experiments and of the allocated units. */
  sampleRatioP: readonly number[];
}

const halves = [50, 50];
const thirds = [20, 30, 50];
const allocated = 0.3 * bucketCount;

export function testIndependence(units: number): AssignmentIndependence {
  const experiments = table(2, 3);
  const allocation = table(2, 3);
  for (let i = 0; i < units; i++) {
    const unit = `user-${i}`;
    const first = variantIndexOf(bucketOf("first/variant", unit), halves);
    const second = variantIndexOf(bucketOf("second/variant", unit), thirds);
    experiments[first]![second]!++;
    allocation[bucketOf("second/allocation", unit) < allocated ? 1 : 0]![second]!++;
  }
  const columns = [0, 1, 2].map((column) => experiments[0]![column]! + experiments[1]![column]!);
  return {
    experimentsP: independenceP(experiments),
    allocationP: independenceP(allocation),
    sampleRatioP: [
      ratioP(experiments.map(sum), halves),
      ratioP(columns, thirds),
      ratioP(allocation[1]!, thirds),
      ratioP(allocation.map(sum), [70, 30]),
    ],
  };
}

function table(rows: number, columns: number): number[][] {
  return Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}

/** The chi-square test of a table with 2 rows and 3 columns: two degrees of freedom, where the tail is exponential. */
function independenceP(counts: readonly (readonly number[])[]): number {
  const total = sum(counts.map(sum));
  let chiSquare = 0;
  for (const row of counts) {
    for (const [column, count] of row.entries()) {
      const expected = (sum(row) * sum(counts.map((other) => other[column]!))) / total;
      chiSquare += (count - expected) ** 2 / expected;
    }
  }
  return Math.exp(-chiSquare / 2);
}

function ratioP(units: readonly number[], weights: readonly number[]): number {
  const variants = units.map((_, i) => String(i));
  const plan = { alpha: 0.05, plannedUnits: 1_000_000, control: "0", variants, metrics: [] };
  const arms = variants.map((variant, i) => ({ variant, units: units[i]!, mature: 0, metrics: {} }));
  const byVariant = Object.fromEntries(variants.map((variant, i) => [variant, weights[i]!]));
  return analyse(plan, [{ weights: byVariant, arms }]).sampleRatio.p;
}
