import type { Fragment, Sql } from "../sql/sql.ts";

/**
 * SQL condition: a row of a table has the key of an input row, both by their aliases. The planner can neither merge nor hash
 * arrays, so it looks up each input row by its key. For a plain comparison it may read the whole table instead, if the table
 * was small when the plan was made. A read or lock uses `lateral (… limit 1)`; this is for updates and deletions.
 */
export function hasKey(sql: Sql, row: string, input: string, columns = ["tenant_id", "id"]): Fragment {
  return columns
    .map((column) => sql`${sql(`${row}.${column}`)} = any(array[${sql(`${input}.${column}`)}])`)
    .reduce((all, each) => sql`${all} and ${each}`);
}
