/** Counts entries by name, and finds the name with the most entries in constant time. */
export type EntryCounts = ReturnType<typeof createEntryCounts>;

export function createEntryCounts() {
  const counts = new Map<string, number>();
  /** The names at each count. Counts change by one, so the last set is never empty. */
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
    get total(): number {
      return total;
    },
    add(name: string) {
      const count = counts.get(name) ?? 0;
      move(name, count, count + 1);
    },
    remove(name: string) {
      const count = counts.get(name)!;
      move(name, count, count - 1);
    },
    /** The name with the most entries; `preferred` if no other name has more. */
    largest(preferred: string): string {
      const last = names.at(-1)!;
      if (last.has(preferred)) return preferred;
      return last.values().next().value ?? preferred;
    },
  };
}
