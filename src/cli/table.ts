const gap = 2;
const cellMax = 60;

/** Rows under headings, in columns as wide as they need; those that do not fit are left out, first ones first served. */
export function tableText(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const bounded = Number.isFinite(width);
  const cells = rows.map((row) => row.map((cell) => (bounded ? clipped(cell) : cell)));
  const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((row) => row[at]!.length)));
  let left = width;
  const shown = headings.flatMap((_, at) => {
    const needed = widths[at]! + gap;
    if (at > 0 && needed - gap > left) return [];
    left -= needed;
    return [at];
  });
  const line = (row: readonly string[]) =>
    shown
      .map((at) => row[at]!.padEnd(widths[at]!))
      .join(" ".repeat(gap))
      .trimEnd();
  return [line(headings.map((heading) => heading.toUpperCase())), ...cells.map(line)].join("\n");
}

/** Names and values, one pair a line, the values aligned. */
export function pairsText(pairs: readonly (readonly [string, string])[], indent = ""): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${indent}${name.padEnd(width + gap)}${value}`.trimEnd()).join("\n");
}

function clipped(cell: string): string {
  return cell.length > cellMax ? `${cell.slice(0, cellMax - 1)}…` : cell;
}
