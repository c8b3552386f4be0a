import type { Total } from "../cursor/index.ts";
import type { Fragment, Sql } from "../db/index.ts";
import { type Page, type PageRows, pageBytesMax } from "./page.ts";

interface Selection {
  readonly columns: Fragment;
  readonly table: string;
  /** The condition that selects the list's rows, without the page. An index must return them in key order. */
  readonly where: Fragment;
  /** A further condition without an index. It is evaluated row by row, on at most `scanMax` rows. */
  readonly filter?: Fragment | undefined;
  /** The unique column by which the rows are ordered. */
  readonly key?: string;
  readonly newestFirst?: boolean;
}

/** Totals are counted up to this number, so that the count's cost does not grow with the table. */
export const totalMax = 10_000;

/** How many rows one call scans at most to find those that match a filter. */
export const scanMax = 100_000;

/** Reads one page in the order of a unique column. The first page has the total; if it ends the list, nothing is counted. */
export async function readKeyset<T extends object>(
  sql: Sql,
  { columns, table, where, filter, key = "id", newestFirst = false }: Selection,
  { fetch, offset, after }: Page,
): Promise<PageRows<T>> {
  const order = sql`order by ${sql(key)} ${newestFirst ? sql`desc` : sql`asc`}`;
  const beyond = newestFirst ? sql`and ${sql(key)} < ${after ?? ""}` : sql`and ${sql(key)} > ${after ?? ""}`;
  const reached = sql`from ${sql(table)} where ${where} ${after === undefined ? sql`` : beyond} ${order}`;
  const count = () => (after === undefined ? boundedCount(sql, { table, where, filter, order }) : undefined);
  if (filter === undefined) {
    const rows = await sql<T[]>`select ${columns} ${reached} limit ${fetch} offset ${offset}`.firstRows(
      pageBytesMax,
      fetch,
    );
    const { isCut } = rows;
    const seen = offset + rows.length;
    const isWhole = after === undefined && !isCut && rows.length < fetch && (rows.length > 0 || offset === 0);
    return { rows, total: isWhole ? totalOf([{ count: seen, seen }]) : await count(), isCut };
  }
  const total = await count();
  // The subquery is named like the table, since columns may be qualified with the table's name.
  const rows = await sql<T[]>`
    select ${columns} from (select * ${reached} limit ${scanMax}) as ${sql(table)} where ${filter}
    ${order} limit ${fetch} offset ${offset}`.firstRows(pageBytesMax, fetch);
  const { isCut } = rows;
  // A total that is not capped has scanned the whole list.
  if (isCut || rows.length === fetch || total?.capped === false) return { rows, total, isCut };
  const [last] = await sql<{ key: string }[]>`
    select ${sql(key)}::text as key ${reached} offset ${scanMax - 1} limit 1`;
  return { rows, total, isCut, scannedTo: last?.key };
}

/** Counts rows without reading more than totalMax + 1 of them. */
async function boundedCount(
  sql: Sql,
  { table, where, filter, order }: Pick<Selection, "table" | "where" | "filter"> & { order: Fragment },
): Promise<Total> {
  const counted = filter === undefined ? sql`count(*)` : sql`count(*) filter (where ${filter})`;
  const some = sql`select ${filter === undefined ? sql`` : sql`*`} from ${sql(table)} where ${where} ${order}`;
  return totalOf(
    await sql<BoundedCount[]>`
      select ${counted}::int as count, count(*)::int as seen from (${some} limit ${totalMax + 1}) as ${sql(table)}`,
  );
}

/** The result of a bounded count: matching rows, and rows scanned. */
export interface BoundedCount {
  readonly count: number;
  readonly seen: number;
}

/** Converts a count over at most totalMax + 1 rows to a total. */
export function totalOf([counted]: readonly BoundedCount[]): Total {
  return { count: Math.min(counted!.count, totalMax), capped: counted!.seen > totalMax };
}
