/** A queue in which tenants take turns, however much each has waiting. */
export class TenantRing<T> {
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

  /** The next entry of the tenant whose turn it is; undefined when nothing waits. */
  take(): T | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [tenantId, own] = next;
    const entry = own.shift()!;
    // A map keeps the order of insertion: whoever had a turn goes to the end.
    this.#waiting.delete(tenantId);
    if (own.length > 0) this.#waiting.set(tenantId, own);
    return entry;
  }
}
