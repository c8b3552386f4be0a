/** Counts what waits by name, and knows at once which name has the most. */
export interface WaitingCounts {
  readonly total: number;
  add(name: string): void;
  remove(name: string): void;
  /** The name with the most waiting; the preferred one if nothing has more than it. */
  largest(preferred: string): string;
}

/** Makes counts of nothing. */
export function createWaitingCounts(): WaitingCounts {
  const counts = new Map<string, number>();
  /** At each count, the names that have it. Counts move by one, so the last set is never empty. */
  const names: Set<string>[] = [new Set()];
  let total = 0;

  function move(name: string, from: number, to: number): void {
    names[from]!.delete(name);
    names[to] ??= new Set();
    if (to > 0) names[to].add(name);
    while (names.length > 1 && names.at(-1)!.size === 0) names.pop();
    if (to > 0) counts.set(name, to);
    else counts.delete(name);
    total += to - from;
  }

  return {
    get total() {
      return total;
    },
    add(name) {
      const count = counts.get(name) ?? 0;
      move(name, count, count + 1);
    },
    remove(name) {
      const count = counts.get(name)!;
      move(name, count, count - 1);
    },
    largest(preferred) {
      const last = names.at(-1)!;
      if (last.has(preferred)) return preferred;
      return last.values().next().value ?? preferred;
    },
  };
}
