/** A queue that serves tenants round-robin, independent of how many entries each has queued. */
export class RoundRobinQueue<T> {
  readonly #waiting = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(tenantId: string): boolean {
    return this.#waiting.has(tenantId);
  }

  add(tenantId: string, entry: T): void {
    const own = this.#waiting.get(tenantId);
    if (own === undefined) this.#waiting.set(tenantId, [entry]);
    else own.push(entry);
  }

  /** Removes and returns the next entry, or undefined when the queue is empty. */
  take(): T | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [tenantId, own] = next;
    const entry = own.shift()!;
    // A map iterates in insertion order, so re-inserting the tenant moves it to the end of the round.
    this.#waiting.delete(tenantId);
    if (own.length > 0) this.#waiting.set(tenantId, own);
    return entry;
  }
}
