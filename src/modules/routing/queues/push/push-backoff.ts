import type { PushTarget } from "./push-store.ts";

/**
 * Remembers push targets that had no item to lease, so that not every scan tries them again.
 *
 * A target is tried again after its back-off, or as soon as something changes in its pool. The memory is bounded: an
 * evicted target is only tried too early.
 */
export class PushBackoff {
  readonly #max: number;
  /** End of the back-off, by pool and recipient. */
  readonly #pools = new Map<string, Map<string, number>>();
  #size = 0;

  constructor(max = 10_000) {
    this.#max = max;
  }

  /** End of a target's back-off; undefined when the target can be tried. */
  untilMs({ tenantId, poolId, recipientId }: PushTarget, nowMs: number): number | undefined {
    const pool = poolKey(tenantId, poolId);
    const untilMs = this.#pools.get(pool)?.get(recipientId);
    if (untilMs === undefined || untilMs > nowMs) return untilMs;
    this.#delete(pool, recipientId);
    return undefined;
  }

  add({ tenantId, poolId, recipientId }: PushTarget, untilMs: number): void {
    const pool = poolKey(tenantId, poolId);
    this.#delete(pool, recipientId);
    if (this.#size >= this.#max) this.#deleteOldest();
    const targets = this.#pools.get(pool) ?? new Map<string, number>();
    this.#pools.set(pool, targets.set(recipientId, untilMs));
    this.#size++;
  }

  /** Ends the back-off of a pool's targets: an item, slot or token may be available. */
  clearPool(tenantId: string, poolId: string): void {
    const pool = poolKey(tenantId, poolId);
    this.#size -= this.#pools.get(pool)?.size ?? 0;
    this.#pools.delete(pool);
  }

  /** Ends the back-off of all targets. */
  clear(): void {
    this.#pools.clear();
    this.#size = 0;
  }

  #delete(pool: string, recipientId: string): void {
    const targets = this.#pools.get(pool);
    if (!targets?.delete(recipientId)) return;
    this.#size--;
    if (targets.size === 0) this.#pools.delete(pool);
  }

  /** Deletes a target of the oldest pool: a map iterates in insertion order. */
  #deleteOldest(): void {
    const [pool, targets] = this.#pools.entries().next().value!;
    this.#delete(pool, targets.keys().next().value!);
  }
}

function poolKey(tenantId: string, poolId: string): string {
  return `${tenantId}:${poolId}`;
}
