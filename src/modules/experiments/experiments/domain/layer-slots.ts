import { fail } from "../../../../errors/index.ts";
import type { Layer, SlotRange } from "./experiment.ts";

/** The number of slots of a layer: the buckets of the hash of a unit. */
const slotCount = 1_000_000;

/** Reserves free slots of a layer, the lowest first. Throws FAILED_PRECONDITION if too few are free. */
export function reserveSlots({ key, pct }: Layer, taken: readonly SlotRange[]): SlotRange[] {
  let missing = Math.round((pct / 100) * slotCount);
  const reserved: SlotRange[] = [];
  let free = 0;
  let at = 0;
  for (const [from, to] of [...taken.toSorted((a, b) => a[0] - b[0]), [slotCount, slotCount] as const]) {
    const gap = from - at;
    free += Math.max(0, gap);
    if (gap > 0 && missing > 0) {
      const size = Math.min(gap, missing);
      reserved.push([at, at + size]);
      missing -= size;
    }
    at = Math.max(at, to);
  }
  if (missing === 0) return reserved;
  throw fail("FAILED_PRECONDITION", {
    public: `The layer ${key} has ${(free / slotCount) * 100} percent free, and the experiment needs ${pct}. End an experiment of the layer, or take a smaller share.`,
  });
}

export function isInRanges(slot: number, ranges: readonly SlotRange[]): boolean {
  return ranges.some(([from, to]) => slot >= from && slot < to);
}
