/** Estimates how fast items are handed out. */
export type DrainRate = ReturnType<typeof createDrainRate>;

/** Requests count less the longer ago they were: after this time, a third of what they counted at first. */
const decayMs = 1000;
/** Giving an item back costs more than not having it in memory. If a tenth is unused, the estimate is halved. */
const unusedWeight = 10;

/**
 * Creates an estimate from the requests of about the last second. A drain in bursts has a high rate and long pauses, so
 * unused items lower the estimate.
 */
export function createDrainRate(nowMs: () => number) {
  let items = 0;
  let requests = 0;
  let unused = 0;
  let atMs = nowMs();
  const decay = () => {
    const now = nowMs();
    const factor = Math.exp((atMs - now) / decayMs);
    items *= factor;
    requests *= factor;
    unused *= factor;
    atMs = now;
  };
  return {
    /** Records a request that received items. */
    record(count: number) {
      decay();
      items += count;
      requests++;
    },
    /** Records items that were leased for requests that did not come. */
    recordUnused(count: number) {
      decay();
      unused += count;
    },
    /** The number of items that the next `ms` need; 0 when not even one request is expected in that time. */
    itemsIn(ms: number): number {
      decay();
      if ((requests * ms) / decayMs < 1) return 0;
      const usedShare = items / (items + unusedWeight * unused);
      return Math.floor((items * usedShare * ms) / decayMs);
    },
  };
}
