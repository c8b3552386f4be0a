import { snakeCase } from "../../text/index.ts";
import type { Fragment, Sql } from "../database.ts";

/** Records as rows of a table, to select from. Fields are named like their columns; a column without a field is null. */
export function recordRows(sql: Sql, table: string, records: readonly object[]): Fragment {
  const rows = records.map((record) =>
    Object.fromEntries(Object.entries(record).map(([field, value]) => [snakeCase(field), value])),
  );
  return sql`json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::text::json)`;
}
