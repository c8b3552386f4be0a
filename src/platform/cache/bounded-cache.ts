interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  wasRead: boolean;
}

/**
 * A cache that evicts its oldest entries when their total weight exceeds a maximum. An entry that was read since it was last
 * considered gets a second chance. That keeps about the same entries as least recently used, but a read does not move its entry.
 */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, Entry<V>>();
  readonly #weightMax: () => number;
  readonly #onEvict: ((key: K, value: V) => void) | undefined;
  #weight = 0;

  /**
   * An entry weighs 1 unless `set` says otherwise, so the maximum is usually a number of entries. A cache that exists before the
   * process knows its share of the memory is given a function. `onEvict` learns of entries that had to make room.
   */
  constructor(weightMax: number | (() => number), onEvict?: (key: K, value: V) => void) {
    this.#weightMax = typeof weightMax === "number" ? () => weightMax : weightMax;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.wasRead = true;
    return entry.value;
  }

  /** Returns the value of a key, and creates it first if there is none. */
  getOrCreate(key: K, create: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = create();
    this.set(key, value);
    return value;
  }

  /** Stores a value as the newest entry. The entry itself is kept, however much it weighs. */
  set(key: K, value: V, weight = 1): void {
    this.delete(key);
    this.#weight += weight;
    this.#evict();
    this.#entries.set(key, { value, weight, wasRead: false });
  }

  /** Deletes an entry; returns whether there was one. */
  delete(key: K): boolean {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  /** All keys and values, which does not count as reading them. */
  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /** Makes room. A map iterates in insertion order, and visits entries that are inserted meanwhile. */
  #evict(): void {
    const weightMax = this.#weightMax();
    for (const [key, entry] of this.#entries) {
      if (this.#weight <= weightMax) return;
      this.#entries.delete(key);
      if (entry.wasRead) {
        this.#entries.set(key, { ...entry, wasRead: false });
        continue;
      }
      this.#weight -= entry.weight;
      this.#onEvict?.(key, entry.value);
    }
  }
}
