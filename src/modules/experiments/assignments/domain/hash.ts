import { bucketCount } from "../../../../platform/hashing/index.ts";

/** Allocation, variant and layer each need a salt of their own. */
export { bucketCount, bucketOf } from "../../../../platform/hashing/index.ts";

/** The index of the variant whose range contains the bucket. The ranges follow each other in the order of the weights. */
export function variantIndexOf(bucket: number, weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let upTo = 0;
  let last = -1;
  for (const [index, weight] of weights.entries()) {
    if (weight <= 0) continue;
    upTo += weight;
    last = index;
    if (bucket < Math.round((upTo / total) * bucketCount)) return index;
  }
  if (last === -1) throw new RangeError("At least one variant needs a positive weight.");
  return last;
}
