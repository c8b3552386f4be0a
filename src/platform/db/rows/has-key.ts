import type { Fragment, Sql } from "../sql/sql.ts";

/**
 * SQL condition: a row of a table has the key of an input row, both by their aliases. For updates and deletions; a read or lock
 * uses `lateral (… limit 1)`. The planner looks up each input row by its key. For plain comparisons of all columns it may merge the
 * input with the whole table, if the table was small when the plan was made. It cannot merge an array, so the first column is
 * one. The others are not, because before PostgreSQL 17 it may leave arrays of later columns out of an index search.
 */
export function hasKey(sql: Sql, row: string, input: string, columns = ["tenant_id", "id"]): Fragment {
  return equalKeys(sql, row, columns, (column) => `${input}.${column}`);
}

/**
 * SQL after `using` or `from` that joins a table with the keys of a bounded selection, for deletions and updates in batches; the
 * table must not have an alias. The selection begins with `from`. Its keys pass through arrays, which the planner takes for short
 * ones, so it looks up each key. It may join a plain subselect with a scan of the whole table.
 */
export function joinSelected(sql: Sql, table: string, selection: Fragment, columns = ["tenant_id", "id"]): Fragment {
  const list = (each: (column: string) => Fragment) =>
    columns.slice(1).reduce((all, column) => sql`${all}, ${each(column)}`, each(columns[0]!));
  const renamed = (column: string) => `selected_${column}`;
  return sql`(
      with selected as materialized (select ${list((column) => sql`${sql(column)}`)} ${selection})
      select * from unnest(${list((column) => sql`array(select ${sql(column)} from selected)`)})
    ) as selected (${list((column) => sql`${sql(renamed(column))}`)})
    where ${equalKeys(sql, table, columns, renamed)}`;
}

function equalKeys(sql: Sql, row: string, columns: readonly string[], inputOf: (column: string) => string): Fragment {
  const [first, ...others] = columns.map((column) => [sql(`${row}.${column}`), sql(inputOf(column))] as const);
  return others.reduce(
    (all, [own, wanted]) => sql`${all} and ${own} = ${wanted}`,
    sql`${first![0]} = any(array[${first![1]}])`,
  );
}
