/** A least-recently-used cache, bounded by a total weight. */
export class BoundedCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly weight: number }>();
  readonly #weightMax: number;
  #weight = 0;

  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A map iterates in insertion order, so re-inserting the entry marks it as most recently used.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, weight: number): void {
    this.#remove(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax || oldest === key) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
