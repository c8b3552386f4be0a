/**
 * Encodes a column as one text for `string_to_table(…, E'\n', '')`: one line per row, an empty line for null. This is the
 * cheapest encoding for both sides: arrays need escaping, and JSON objects need a key lookup per column and row. Values
 * must not contain line breaks.
 */
export function lines<Row>(
  rows: readonly Row[],
  value: (row: Row, nth: number) => string | number | boolean | undefined,
): string {
  return rows.map(value).join("\n");
}
