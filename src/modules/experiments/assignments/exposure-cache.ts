/** Keeps recently used values. */
export interface RecentCache<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
}

/**
 * Creates a bounded cache of two generations: values that were used in the last generation survive. An exposure never changes,
 * so that nothing has to be invalidated.
 */
export function createRecentCache<V>(generationMax: number): RecentCache<V> {
  let current = new Map<string, V>();
  let previous = new Map<string, V>();
  function set(key: string, value: V): void {
    if (current.size >= generationMax) {
      previous = current;
      current = new Map();
    }
    current.set(key, value);
  }
  return {
    get(key) {
      const found = current.get(key);
      if (found !== undefined) return found;
      const older = previous.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
  };
}
