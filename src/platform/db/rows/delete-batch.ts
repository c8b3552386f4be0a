import type { Fragment, Sql } from "../sql/sql.ts";
import { joinSelected } from "./has-key.ts";

/** Rows of a table to delete. The table is named by code, never by a request. */
interface DeletedRows {
  readonly table: string;
  /** The condition on the table's columns. It is checked again on deletion, so rows that changed meanwhile stay. */
  readonly where: Fragment;
  readonly orderBy?: Fragment;
}

/** Deletes up to `limit` rows by key; returns their number. In a table without a primary key, it may exceed the limit. */
export async function deleteBatch(sql: Sql, { table, where, orderBy }: DeletedRows, limit: number): Promise<number> {
  const key = await readKey(sql, table);
  const order = orderBy === undefined ? sql`` : sql`order by ${orderBy}`;
  const selection = sql`from ${sql(table)} where ${where} ${order} limit ${limit}`;
  const { count } = await sql`delete from ${sql(table)} using ${joinSelected(sql, table, selection, key)} and ${where}`;
  return count;
}

/** The columns of a table's primary key. Partitioned tables have none: the columns of the shortest complete index. */
async function readKey(sql: Sql, table: string): Promise<string[]> {
  const [row] = await sql<{ key: string[] }[]>`
    select array(
      select attname::text from unnest(indkey::int2[]) with ordinality as column_of(number, nth)
      join pg_attribute on attrelid = indrelid and attnum = number order by nth) as key
    from pg_index where indrelid = to_regclass(${table}) and indpred is null and indexprs is null
    order by indisprimary desc, indnatts limit 1`;
  return row!.key;
}
