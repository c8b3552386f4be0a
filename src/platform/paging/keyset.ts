import type { Total } from "../cursor/index.ts";
import type { Fragment, Sql } from "../db/index.ts";
import type { Page, PageRows } from "./page.ts";

interface Selection {
  readonly columns: Fragment;
  readonly table: string;
  /** What chooses the rows, without the page; an index finds them in the order of the key. */
  readonly where: Fragment;
  /** A further condition that no index helps with: rows are looked through for it, so many at most. */
  readonly filter?: Fragment | undefined;
  /** The unique column that orders the rows. */
  readonly key?: string;
  readonly newestFirst?: boolean;
}

/** Totals are counted up to here: the count costs the same at any size of the table. */
export const totalMax = 10_000;

/** How many rows one call looks through for those that match a filter. */
export const scanMax = 100_000;

/** Reads one page in the order of a unique column, and counts the rows when it is the first. */
export async function readKeyset<T extends object>(
  sql: Sql,
  { columns, table, where, filter, key = "id", newestFirst = false }: Selection,
  { fetch, offset, after }: Page,
): Promise<PageRows<T>> {
  const order = sql`order by ${sql(key)} ${newestFirst ? sql`desc` : sql`asc`}`;
  const beyond = newestFirst ? sql`and ${sql(key)} < ${after ?? ""}` : sql`and ${sql(key)} > ${after ?? ""}`;
  const reached = sql`from ${sql(table)} where ${where} ${after === undefined ? sql`` : beyond} ${order}`;
  const total = after === undefined ? await boundedCount(sql, { table, where, filter, order }) : undefined;
  if (filter === undefined) {
    return { rows: await sql<T[]>`select ${columns} ${reached} limit ${fetch} offset ${offset}`, total };
  }
  // The rows keep the table's name, since columns may use it.
  const rows = await sql<T[]>`
    select ${columns} from (select * ${reached} limit ${scanMax}) as ${sql(table)} where ${filter}
    ${order} limit ${fetch} offset ${offset}`;
  if (rows.length === fetch) return { rows, total };
  const [last] = await sql<{ key: string }[]>`
    select ${sql(key)}::text as key ${reached} offset ${scanMax - 1} limit 1`;
  return { rows, total, scannedTo: last?.key };
}

/** Counts rows without reading more than so many of them. */
async function boundedCount(
  sql: Sql,
  { table, where, filter, order }: Pick<Selection, "table" | "where" | "filter"> & { order: Fragment },
): Promise<Total> {
  const counted = filter === undefined ? sql`count(*)` : sql`count(*) filter (where ${filter})`;
  const some = sql`select ${filter === undefined ? sql`` : sql`*`} from ${sql(table)} where ${where} ${order}`;
  return totalOf(
    await sql<Counted[]>`
      select ${counted}::int as count, count(*)::int as seen from (${some} limit ${totalMax + 1}) as ${sql(table)}`,
  );
}

/** What a bounded count found among the rows that it looked at. */
export interface Counted {
  readonly count: number;
  readonly seen: number;
}

/** The total that a count of at most totalMax + 1 rows tells. */
export function totalOf([counted]: readonly Counted[]): Total {
  return { count: Math.min(counted!.count, totalMax), capped: counted!.seen > totalMax };
}
