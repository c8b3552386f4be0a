import type { Fragment, Sql } from "../db/index.ts";
import type { Page, PageRows } from "./index.ts";

interface Selection {
  readonly columns: Fragment;
  readonly table: string;
  /** What chooses the rows, without the page. */
  readonly where: Fragment;
  /** The unique column that orders the rows. */
  readonly key?: string;
  readonly newestFirst?: boolean;
}

/** Reads one page in the order of a unique column, and counts all rows when it is the first. */
export async function readKeyset<T extends object>(
  sql: Sql,
  { columns, table, where, key = "id", newestFirst = false }: Selection,
  { fetch, offset, after }: Page,
): Promise<PageRows<T>> {
  const beyond = newestFirst ? sql`and ${sql(key)} < ${after ?? ""}` : sql`and ${sql(key)} > ${after ?? ""}`;
  const rows = await sql<T[]>`
    select ${columns} from ${sql(table)} where ${where} ${after === undefined ? sql`` : beyond}
    order by ${sql(key)} ${newestFirst ? sql`desc` : sql`asc`} limit ${fetch} offset ${offset}`;
  if (after !== undefined) return { rows, total: undefined };
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total from ${sql(table)} where ${where}`;
  return { rows, total: counted!.total };
}
