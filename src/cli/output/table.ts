const gap = 2;
/** The smallest width of a truncated column. */
const shortenedWidthMin = 12;

/**
 * Formats a table no wider than `width`; undefined if not even the first column fits.
 *
 * Long cells are truncated, in the widest column first. Then columns are omitted, the last one first. The first column
 * identifies the row and is never truncated.
 */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string | undefined {
  const natural = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]!.length)));
  const widths = Number.isFinite(width) ? fitWidths(headings, natural, width) : natural;
  if (widths === undefined) return undefined;
  const line = (row: readonly string[]) =>
    widths
      .map((each, at) => shortened(row[at]!, each).padEnd(each))
      .join(" ".repeat(gap))
      .trimEnd();
  return [headings.map((heading) => heading.toUpperCase()), ...rows].map(line).join("\n");
}

/** The widths of the visible columns. */
function fitWidths(headings: readonly string[], natural: readonly number[], width: number): number[] | undefined {
  const widths = [...natural];
  for (;;) {
    const excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width;
    if (excess <= 0) return widths;
    const floors = widths.map((each, at) =>
      at === 0 ? each : Math.min(each, Math.max(headings[at]!.length, shortenedWidthMin)),
    );
    const slack = widths.map((each, at) => each - floors[at]!);
    if (slack.reduce((sum, each) => sum + each, 0) < excess) {
      if (widths.length === 1) return undefined;
      widths.pop();
      // The remaining columns may use their full width again.
      for (const at of widths.keys()) widths[at] = natural[at]!;
      continue;
    }
    for (let left = excess; left > 0; left--) {
      const widest = widths.reduce(
        (best, each, at) => (each > floors[at]! && (best < 0 || each > widths[best]!) ? at : best),
        -1,
      );
      widths[widest]! -= 1;
    }
  }
}

/** Formats names and values, one pair per line, with aligned values. */
export function pairsText(pairs: readonly (readonly [string, string])[], indent = ""): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${indent}${name.padEnd(width + gap)}${value}`.trimEnd()).join("\n");
}

function shortened(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell;
}
