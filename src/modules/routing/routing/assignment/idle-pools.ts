/**
 * Remembers the pools in which no item waits for a recipient, so that a freed place there leads to no search; and the pools
 * in which a place is left because nobody who waits can use it.
 *
 * Another node that has not heard of a freed place yet may put an item into a pool at any time, and tells of it after its
 * commit. The place is passed over, or looked at in vain, before that arrives; so the pool is searched once it does.
 */
export class IdlePools {
  readonly #max: number;
  readonly #idle = new Map<string, { placePassedOver: boolean }>();
  /** Searches that no item has come up in so far. */
  readonly #searches = new Map<string, symbol>();
  /** Looks for a place that are under way, and whether an item came up since they began. */
  readonly #placeLooks = new Map<string, { itemCame: boolean }>();
  /** Pools in which items wait, and the last look left a place that none of them can use. */
  readonly #placeLeft = new Set<string>();

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
   * Notes that an item waits; answers whether a place was passed over or left before, so that the pool has to be searched.
   * While a search or a look is under way, it is `endSearch` or `endPlaceLook` that answers.
   */
  itemWaits(poolId: string): boolean {
    const passedOver = this.#idle.get(poolId)?.placePassedOver === true;
    this.#idle.delete(poolId);
    this.#searches.delete(poolId);
    const look = this.#placeLooks.get(poolId);
    if (look !== undefined) look.itemCame = true;
    return this.#placeLeft.delete(poolId) || passedOver;
  }

  /** To be called before a look for a freed place, which may take several searches. */
  beginPlaceLook(poolId: string): void {
    this.#placeLeft.delete(poolId);
    this.#placeLooks.set(poolId, { itemCame: false });
  }

  /**
   * Notes that a look for a freed place is over, and whether a place is left; answers whether the pool has to be looked at
   * again, because an item came up meanwhile that may have been missed.
   */
  endPlaceLook(poolId: string, placeIsLeft: boolean): boolean {
    const itemCame = this.#placeLooks.get(poolId)?.itemCame === true;
    this.#placeLooks.delete(poolId);
    if (!placeIsLeft || this.#idle.has(poolId)) return false;
    if (!itemCame) addBounded(this.#placeLeft, poolId, this.#max);
    return itemCame;
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
    this.#placeLeft.clear();
    // Whatever was announced since is not known.
    for (const look of this.#placeLooks.values()) look.itemCame = true;
  }

  #add(poolId: string, placePassedOver: boolean): void {
    if (!this.#idle.has(poolId) && this.#idle.size >= this.#max) this.#idle.delete(this.#idle.keys().next().value!);
    this.#idle.set(poolId, { placePassedOver });
  }
}

/** A set keeps the order of insertion: the oldest one makes room. */
function addBounded<T>(set: Set<T>, value: T, max: number): void {
  if (!set.has(value) && set.size >= max) set.delete(set.values().next().value!);
  set.add(value);
}
