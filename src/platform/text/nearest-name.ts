/** Returns the known name that is closest to a mistyped one, or that only adds `_id` to it; undefined when none is close. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const asId = `${typed}_id`;
  if (known.includes(asId)) return asId;
  const distanceMax = Math.max(2, Math.floor(typed.length / 5));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(name.length - typed.length) > distanceMax) continue;
    const distance = editDistance(typed, name);
    if (distance <= distanceMax && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

/** The Levenshtein distance between two texts. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
