import type { PushTarget } from "./push-store.ts";

/** Why a target is not asked: its throttle has no token before a known time, or all places that it shares are taken. */
export type RestReason = "throttled" | "saturated";

interface Rest {
  readonly untilMs: number;
  readonly reason: RestReason;
}

/**
 * Remembers which targets of pushes can take nothing now, and until when, so that they are not asked again before.
 *
 * A saturated target may be asked as soon as something happens in its pool. The memory is bounded: a target that falls out of
 * it is asked too early, and nothing worse.
 */
export class TargetRests {
  readonly #max: number;
  /** By pool, then by recipient. */
  readonly #pools = new Map<string, Map<string, Rest>>();
  #size = 0;

  constructor(max = 10_000) {
    this.#max = max;
  }

  /** Until when a target rests; undefined when it can be asked. */
  untilMs({ tenantId, poolId, recipientId }: PushTarget, nowMs: number): number | undefined {
    const pool = poolKey(tenantId, poolId);
    const rest = this.#pools.get(pool)?.get(recipientId);
    if (rest === undefined) return undefined;
    if (rest.untilMs > nowMs) return rest.untilMs;
    this.#delete(pool, recipientId);
    return undefined;
  }

  add({ tenantId, poolId, recipientId }: PushTarget, untilMs: number, reason: RestReason): void {
    const pool = poolKey(tenantId, poolId);
    this.#delete(pool, recipientId);
    if (this.#size >= this.#max) this.#deleteOldest();
    const rests = this.#pools.get(pool) ?? new Map<string, Rest>();
    rests.set(recipientId, { untilMs, reason });
    this.#pools.set(pool, rests);
    this.#size++;
  }

  /** Lets a pool's saturated targets be asked again: a place may be free. */
  poolChanged(tenantId: string, poolId: string): void {
    const pool = poolKey(tenantId, poolId);
    for (const [recipientId, { reason }] of this.#pools.get(pool) ?? [])
      if (reason === "saturated") this.#delete(pool, recipientId);
  }

  #delete(pool: string, recipientId: string): void {
    const rests = this.#pools.get(pool);
    if (!rests?.delete(recipientId)) return;
    this.#size--;
    if (rests.size === 0) this.#pools.delete(pool);
  }

  /** A map keeps the order of insertion, so this is one of the pool that has been there longest. */
  #deleteOldest(): void {
    const [pool, rests] = this.#pools.entries().next().value!;
    this.#delete(pool, rests.keys().next().value!);
  }
}

function poolKey(tenantId: string, poolId: string): string {
  return `${tenantId}:${poolId}`;
}
