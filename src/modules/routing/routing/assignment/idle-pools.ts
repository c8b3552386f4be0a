/**
 * Remembers the pools in which no item waits for a recipient, so that a freed place there leads to no search.
 *
 * Another node that has not heard of a freed place yet may put an item into such a pool at any time, and tells of it after
 * its commit. The place is passed over, or searched for in vain, before that arrives; so the pool is searched once it does.
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

  /**
   * Notes that an item waits; answers whether a place was passed over before, so that the pool has to be searched. While a
   * search is under way, it is `endSearch` that answers.
   */
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

  /**
   * Notes what a search found, and whether it was for a freed place; answers whether the pool has to be searched for a place
   * again. That is so when nothing was found but an item came up meanwhile, which may have been missed; and when a routine
   * search found items in a pool whose place was passed over, since it leaves out those that only wait for a place.
   */
  endSearch(poolId: string, search: symbol, found: { readonly nothing: boolean; readonly forPlace: boolean }): boolean {
    const isUndisturbed = this.#searches.get(poolId) === search;
    if (isUndisturbed) this.#searches.delete(poolId);
    const placePassedOver = this.#idle.get(poolId)?.placePassedOver === true;
    if (!found.nothing) {
      this.#idle.delete(poolId);
      return placePassedOver && !found.forPlace;
    }
    if (isUndisturbed) this.#add(poolId, placePassedOver || found.forPlace);
    return !isUndisturbed;
  }

  clear(): void {
    this.#idle.clear();
    this.#searches.clear();
  }

  #add(poolId: string, placePassedOver: boolean): void {
    if (!this.#idle.has(poolId) && this.#idle.size >= this.#max) this.#idle.delete(this.#idle.keys().next().value!);
    this.#idle.set(poolId, { placePassedOver });
  }
}
