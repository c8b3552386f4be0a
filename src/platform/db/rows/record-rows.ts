import { snakeCase } from "../../text/index.ts";
import type { Fragment, Sql } from "../database.ts";

const columnNames = new Map<string, string>();

/** Records as rows of a table, to select from. Fields are named like their columns; a column without a field is null. */
export function recordRows(sql: Sql, table: string, records: readonly object[]): Fragment {
  const rows = records.map((record) => {
    const row: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(record)) row[columnNameOf(field)] = value;
    return row;
  });
  return sql`json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::text::json)`;
}

/** Converting a name takes longer than all other work for a field. */
function columnNameOf(field: string): string {
  const known = columnNames.get(field);
  if (known !== undefined) return known;
  const name = snakeCase(field);
  columnNames.set(field, name);
  return name;
}
