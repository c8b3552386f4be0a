/**
 * A column of rows as one text, for `string_to_table(…, E'\n', '')`: a line for each row, an empty one for null.
 * Texts of lines cost both sides least: arrays have to be escaped, and a list of objects has to be searched for each
 * column of each row. Only for values that hold no line breaks.
 */
export function lines<Row>(rows: readonly Row[], value: (row: Row) => string | number | boolean | undefined): string {
  return rows.map(value).join("\n");
}
