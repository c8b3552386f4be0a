/** Remembers whose items are likely to pass their constraints, so that little is tried in vain. */
export interface AdmissionOutlook {
  /** Whether it is worth trying to let items of these pools in without a look at their groups. */
  isFair(poolIds: ReadonlySet<string>): boolean;
  passed(poolIds: ReadonlySet<string>): void;
  failed(poolIds: ReadonlySet<string>): void;
}

/** How many times in a row a try is left out at most. */
const pauseMax = 64;
const poolsMax = 10_000;

/** Makes it. A pool is tried again after ever longer pauses for as long as it fails, and always once it passes. */
export function createAdmissionOutlook(): AdmissionOutlook {
  const pauses = new Map<string, { length: number; left: number }>();

  return {
    isFair(poolIds) {
      let fair = true;
      for (const poolId of poolIds) {
        const pause = pauses.get(poolId);
        if (pause === undefined || pause.left === 0) continue;
        pause.left--;
        fair = false;
      }
      return fair;
    },
    passed(poolIds) {
      if (pauses.size > 0) for (const poolId of poolIds) pauses.delete(poolId);
    },
    failed(poolIds) {
      if (pauses.size >= poolsMax) pauses.clear();
      for (const poolId of poolIds) {
        const length = Math.min(pauseMax, 2 * (pauses.get(poolId)?.length ?? 1));
        pauses.set(poolId, { length, left: length });
      }
    },
  };
}
