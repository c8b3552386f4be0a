interface CsvColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | undefined;
}

/** Rows as comma-separated values (RFC 4180). */
export function toCsv<Row>(rows: readonly Row[], columns: readonly CsvColumn<Row>[]): string {
  const lines = [
    columns.map(({ title }) => quote(title)),
    ...rows.map((row) => columns.map(({ value }) => quote(value(row)))),
  ];
  return `${lines.map((cells) => cells.join(",")).join("\r\n")}\r\n`;
}

/** Spreadsheets run a cell that starts with one of these signs as a formula. */
const formula = /^[=+\-@\t\r]/;

function quote(value: string | number | undefined): string {
  if (typeof value === "number") return String(value);
  const text = value ?? "";
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
