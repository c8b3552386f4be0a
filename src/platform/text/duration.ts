const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as 500ms, 30s, 10m, 2h or 7d, in milliseconds; undefined if the text is not one. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit!]!;
}
