import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";

/**
 * Tracks the pools in which no item waits for a recipient, so that a freed place there needs no search, and the pools with
 * a free place that no waiting item can use.
 *
 * Another node may queue an item before it is notified of a freed place, and announces the item after its commit. The place
 * has then been skipped or scanned without a result, so the announcement triggers another search.
 */
export class IdlePools {
  readonly #idle: BoundedCache<string, { placeSkipped: boolean }>;
  /** Running searches during which no item was announced. */
  readonly #searches = new Map<string, symbol>();
  /** Running scans for a freed place, and whether an item was announced since they began. */
  readonly #placeScans = new Map<string, { itemArrived: boolean }>();
  /** Pools in which items wait and a place stayed free after the last scan. */
  readonly #unusablePlaces: BoundedCache<string, true>;

  constructor(max = 10_000) {
    this.#idle = new BoundedCache(max);
    this.#unusablePlaces = new BoundedCache(max);
  }

  /** Records a freed place; returns whether it needs no search because no item waits. */
  skipFreedPlace(poolId: string): boolean {
    const idle = this.#idle.get(poolId);
    if (idle !== undefined) idle.placeSkipped = true;
    return idle !== undefined;
  }

  /**
   * Records a waiting item; returns whether a place was skipped or stayed free before, so that the pool must be searched.
   * During a search or scan, `endSearch` or `endPlaceScan` reports it instead.
   */
  recordWaitingItem(poolId: string): boolean {
    const wasSkipped = this.#idle.get(poolId)?.placeSkipped === true;
    this.#idle.delete(poolId);
    this.#searches.delete(poolId);
    const scan = this.#placeScans.get(poolId);
    if (scan !== undefined) scan.itemArrived = true;
    return this.#unusablePlaces.delete(poolId) || wasSkipped;
  }

  /** Begins a scan for a freed place, which may consist of several searches. */
  beginPlaceScan(poolId: string): void {
    this.#unusablePlaces.delete(poolId);
    this.#placeScans.set(poolId, { itemArrived: false });
  }

  /**
   * Ends a scan for a freed place. Returns whether the pool must be scanned again, because an item was announced meanwhile
   * and may have been missed.
   */
  endPlaceScan(poolId: string, hasFreePlace: boolean): boolean {
    const itemArrived = this.#placeScans.get(poolId)?.itemArrived === true;
    this.#placeScans.delete(poolId);
    if (!hasFreePlace || this.#idle.get(poolId) !== undefined) return false;
    if (!itemArrived) this.#unusablePlaces.set(poolId, true);
    return itemArrived;
  }

  /** Begins a search, before the pool is read; returns the token for `endSearch`. */
  beginSearch(poolId: string): symbol {
    const search = Symbol();
    this.#searches.set(poolId, search);
    return search;
  }

  /**
   * Ends a search. Returns whether the pool must be searched for a free place again. That is the case when nothing was
   * found but an item was announced meanwhile, which may have been missed. It is also the case when a routine search found
   * items in a pool with a skipped place, because routine searches omit items that only wait for a place.
   */
  endSearch(poolId: string, search: symbol, found: { readonly nothing: boolean; readonly forPlace: boolean }): boolean {
    const isUndisturbed = this.#searches.get(poolId) === search;
    if (isUndisturbed) this.#searches.delete(poolId);
    const placeSkipped = this.#idle.get(poolId)?.placeSkipped === true;
    if (!found.nothing) {
      this.#idle.delete(poolId);
      return placeSkipped && !found.forPlace;
    }
    if (isUndisturbed) this.#idle.set(poolId, { placeSkipped: placeSkipped || found.forPlace });
    return !isUndisturbed;
  }

  clear(): void {
    this.#idle.clear();
    this.#searches.clear();
    this.#unusablePlaces.clear();
    // Announcements since then are unknown.
    for (const scan of this.#placeScans.values()) scan.itemArrived = true;
  }
}
