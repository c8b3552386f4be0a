/** Holds refusals back so that callers who do not wait cost no more than others. */
export type RefusalPace = (tenant: string) => Promise<void> | undefined;

interface Limits {
  /** Refusals a second that one tenant gets at once. */
  readonly perSecond: number;
  /** How long a refusal is held back at most. */
  readonly heldMsMax: number;
  /** How many refusals are held back at once. */
  readonly heldMax: number;
}

const tenantsMax = 10_000;

/**
 * Paces the refusals of each tenant. A caller who calls again as soon as it is refused would otherwise take all the time of
 * a node in being refused: reading a request and writing an answer is most of what a short call costs.
 */
export function refusalPace({ perSecond, heldMsMax, heldMax }: Limits): RefusalPace {
  const gapMs = 1000 / perSecond;
  /** When the refusals that a tenant was given would have come, one after another at the pace. */
  const dueAtMs = new Map<string, number>();
  let held = 0;

  return (tenant) => {
    const nowMs = performance.now();
    const dueMs = Math.max(dueAtMs.get(tenant) ?? Number.NEGATIVE_INFINITY, nowMs - 1000) + gapMs;
    if (!dueAtMs.has(tenant) && dueAtMs.size >= tenantsMax) dueAtMs.clear();
    dueAtMs.set(tenant, Math.min(dueMs, nowMs + heldMsMax));
    const holdMs = Math.min(dueMs - nowMs, heldMsMax);
    if (holdMs <= 0 || held >= heldMax) return undefined;
    held++;
    return new Promise((resolve) => {
      setTimeout(() => {
        held--;
        resolve();
      }, holdMs);
    });
  };
}
