import type { Fragment, Sql } from "../sql/sql.ts";

/**
 * SQL condition: a row of a table has the key of an input row, both by their aliases. For updates and deletions; a read or lock
 * uses `lateral (… limit 1)`. The planner looks up each input row by its key. For plain comparisons of all columns it may merge the
 * input with the whole table, if the table was small when the plan was made. It cannot merge an array, so the first column is
 * one. The others are not, because before PostgreSQL 17 it may leave arrays of later columns out of an index search.
 */
export function hasKey(sql: Sql, row: string, input: string, columns = ["tenant_id", "id"]): Fragment {
  const [first, ...others] = columns.map((column) => [sql(`${row}.${column}`), sql(`${input}.${column}`)] as const);
  return others.reduce(
    (all, [own, wanted]) => sql`${all} and ${own} = ${wanted}`,
    sql`${first![0]} = any(array[${first![1]}])`,
  );
}
