/**
 * Remembers the pools in which no item waits for a recipient, so that a freed place there leads to no search.
 *
 * Another node may put an item into such a pool at any time, and tells of it after its commit. A place that is freed before
 * that arrives is passed over, so the pool has to be searched once it does.
 */
export class IdlePools {
  readonly #max: number;
  readonly #idle = new Map<string, { placePassedOver: boolean }>();
  /** Searches that no item has come up in so far. */
  readonly #searches = new Map<string, symbol>();

  constructor(max = 10_000) {
    this.#max = max;
  }

  /** Whether a freed place needs no search because nothing waits. */
  passOver(poolId: string): boolean {
    const idle = this.#idle.get(poolId);
    if (idle !== undefined) idle.placePassedOver = true;
    return idle !== undefined;
  }

  /** Notes that an item waits; answers whether a place was passed over before. */
  itemWaits(poolId: string): boolean {
    const passedOver = this.#idle.get(poolId)?.placePassedOver === true;
    this.#idle.delete(poolId);
    this.#searches.delete(poolId);
    return passedOver;
  }

  /** To be called before a pool is read; answers with what `endSearch` is told. */
  beginSearch(poolId: string): symbol {
    const search = Symbol();
    this.#searches.set(poolId, search);
    return search;
  }

  /** Notes what a search found. An item that came up meanwhile may have been missed, so the pool is not idle then. */
  endSearch(poolId: string, search: symbol, foundNothing: boolean): void {
    const isUndisturbed = this.#searches.get(poolId) === search;
    if (isUndisturbed) this.#searches.delete(poolId);
    if (!foundNothing) this.#idle.delete(poolId);
    else if (isUndisturbed && !this.#idle.has(poolId)) this.#add(poolId);
  }

  clear(): void {
    this.#idle.clear();
    this.#searches.clear();
  }

  #add(poolId: string): void {
    if (this.#idle.size >= this.#max) this.#idle.delete(this.#idle.keys().next().value!);
    this.#idle.set(poolId, { placePassedOver: false });
  }
}
