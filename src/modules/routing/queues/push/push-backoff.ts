import type { PushTarget } from "./push-store.ts";

/**
 * Remembers which push targets had nothing to take, so that they are not asked again at every look.
 *
 * A target may be asked again after its time, or as soon as something happens in its pool. The memory is bounded: a target
 * that falls out of it is only asked too early.
 */
export class PushBackoff {
  readonly #max: number;
  /** By pool, then by recipient: until when the target backs off. */
  readonly #pools = new Map<string, Map<string, number>>();
  #size = 0;

  constructor(max = 10_000) {
    this.#max = max;
  }

  /** Until when a target backs off; undefined when it can be asked. */
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

  /** Lets the targets of a pool be asked again: there may be an item, a place or a token. */
  clearPool(tenantId: string, poolId: string): void {
    const pool = poolKey(tenantId, poolId);
    this.#size -= this.#pools.get(pool)?.size ?? 0;
    this.#pools.delete(pool);
  }

  /** Lets all targets be asked again. */
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

  /** A map keeps the order of insertion, so this is one of the pool that has been there longest. */
  #deleteOldest(): void {
    const [pool, targets] = this.#pools.entries().next().value!;
    this.#delete(pool, targets.keys().next().value!);
  }
}

function poolKey(tenantId: string, poolId: string): string {
  return `${tenantId}:${poolId}`;
}
