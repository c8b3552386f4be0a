/** The size of each engine's cache of partials, in characters of source. */
export const partialCharactersMax = 4 * 1024 * 1024;
/** The memory of a compiled partial in addition to its source, in characters. */
export const partialWeight = 2000;

/** A cache with second-chance eviction, bounded by a total weight. */
export class BoundedCache<T> {
  readonly #weightMax: number;
  readonly #entries = new Map<string, { readonly value: T; readonly weight: number; used: boolean }>();
  #weight = 0;

  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  set(key: string, value: T, weight: number): void {
    if (this.#entries.has(key)) return;
    this.#entries.set(key, { value, weight, used: false });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#weightMax) return;
      this.#entries.delete(oldest);
      // An entry that was used since its last check gets a second chance at the end of the queue.
      if (entry.used) {
        entry.used = false;
        this.#entries.set(oldest, entry);
      } else this.#weight -= entry.weight;
    }
  }

  get weight(): number {
    return this.#weight;
  }
}
