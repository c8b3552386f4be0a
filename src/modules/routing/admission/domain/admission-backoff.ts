import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";

/** Tracks which pools are likely to admit items, to avoid optimistic attempts that would fail. */
export type AdmissionBackoff = ReturnType<typeof createAdmissionBackoff>;

/** Maximum number of consecutive skipped attempts. */
const pauseMax = 64;
const poolsMax = 10_000;

/** Creates the backoff. While a pool fails, attempts are skipped exponentially more often; a success resets it. */
export function createAdmissionBackoff() {
  const pauses = new BoundedCache<string, { length: number; left: number }>(poolsMax);

  return {
    /** Returns whether items of these pools should be admitted optimistically, without reading their groups. */
    shouldTry(poolIds: ReadonlySet<string>): boolean {
      let isDue = true;
      for (const poolId of poolIds) {
        const pause = pauses.get(poolId);
        if (pause === undefined || pause.left === 0) continue;
        pause.left--;
        isDue = false;
      }
      return isDue;
    },
    recordSuccess(poolIds: ReadonlySet<string>) {
      if (pauses.size > 0) for (const poolId of poolIds) pauses.delete(poolId);
    },
    recordFailure(poolIds: ReadonlySet<string>) {
      for (const poolId of poolIds) {
        const length = Math.min(pauseMax, 2 * (pauses.get(poolId)?.length ?? 1));
        pauses.set(poolId, { length, left: length });
      }
    },
  };
}
