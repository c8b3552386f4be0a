/**
 * Returns the known name that is closest to a mistyped one: one with other separators or letter case, one that only adds `_id`, or
 * the one with the fewest edits. Undefined when none is close, or several are equally close.
 */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const asId = `${typed}_id`;
  if (known.includes(asId)) return asId;
  const plain = plainName(typed);
  const same = plain === "" ? undefined : known.find((name) => plainName(name) === plain);
  if (same !== undefined) return same;
  const digits = digitsOf(typed);
  const distanceMax = Math.max(digits === "" ? 1 : 0, Math.floor(typed.length / 4));
  let best: { readonly name: string | undefined; readonly distance: number } | undefined;
  for (const name of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(name.length - typed.length) > distanceMax || isOpposite(typed, name)) continue;
    // Another digit is another value.
    if (digitsOf(name) !== digits) continue;
    const distance = editDistance(typed, name, distanceMax);
    if (distance > Math.min(distanceMax, best?.distance ?? distanceMax)) continue;
    best = { name: distance === best?.distance && name !== best.name ? undefined : name, distance };
  }
  return best?.name;
}

const digitsOf = (name: string): string => name.replaceAll(/\D/g, "");

const negation = /(^|[^a-z])(?:dis|im|in|non|un)[_-]?(?=[a-z])/gi;

/** Whether two names differ in a negation only: `active`, `inactive`. */
function isOpposite(a: string, b: string): boolean {
  return a.length !== b.length && a.replaceAll(negation, "$1") === b.replaceAll(negation, "$1");
}

/** A name without letter case and separators. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/**
 * The edit distance between two texts, where two swapped letters are one edit; Infinity if it is greater than `max`. Only cells
 * within `max` are computed.
 */
function editDistance(a: string, b: string, max: number): number {
  const beyond = Number.POSITIVE_INFINITY;
  let row = new Array<number>(b.length + 1).fill(beyond);
  let next = row.slice();
  let previous = row.slice();
  for (let j = 0; j <= Math.min(max, b.length); j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - max), Math.min(b.length, i + max)];
    next[from - 1] = from === 1 && i <= max ? i : beyond;
    let least = next[from - 1]!;
    for (let j = from; j <= to; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? previous[j - 2]! + 1 : beyond;
      const distance = Math.min(changed, swapped, row[j]! + 1, next[j - 1]! + 1);
      next[j] = distance;
      if (distance < least) least = distance;
    }
    if (least > max) return beyond;
    [previous, row, next] = [row, next, previous];
  }
  return row[b.length]! > max ? beyond : row[b.length]!;
}
