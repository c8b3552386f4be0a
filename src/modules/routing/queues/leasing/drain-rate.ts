/** Estimates how fast items are handed out. */
export interface DrainRate {
  /** Records a request that received items. */
  record(items: number): void;
  /** The number of items that the next `ms` need; 0 when not even one request is expected in that time. */
  itemsIn(ms: number): number;
}

/** Requests count less the longer ago they were: after this time, a third of what they counted at first. */
const decayMs = 1000;

/** Creates an estimate from the requests of about the last second. */
export function createDrainRate(nowMs: () => number): DrainRate {
  let items = 0;
  let requests = 0;
  let atMs = nowMs();
  const decay = () => {
    const now = nowMs();
    const factor = Math.exp((atMs - now) / decayMs);
    items *= factor;
    requests *= factor;
    atMs = now;
  };
  return {
    record(count) {
      decay();
      items += count;
      requests++;
    },
    itemsIn(ms) {
      decay();
      return (requests * ms) / decayMs < 1 ? 0 : Math.floor((items * ms) / decayMs);
    },
  };
}
