import type { Fragment, Sql } from "../db/index.ts";

/** About how many bytes the records of one lease take. */
export const leaseBytesMax = 2 * 1024 * 1024;

/**
 * Selects the first rows of a query, until they take `bytesMax` bytes: at least one row, and at most one row more than that.
 * The query has a column `bytes`, and `order` names its other columns.
 */
export function selectWithinBytes(sql: Sql, query: Fragment, order: Fragment, bytesMax: number): Fragment {
  return sql`
    select * from (
      select counted.*, sum(bytes) over (order by ${order} rows unbounded preceding) - bytes as bytes_before
      from (${query}) counted
    ) measured where bytes_before < ${bytesMax}::bigint`;
}
