import type { Fragment, Sql } from "../database.ts";

/** A row as JSON text. Restored from it, the row has the same bytes in every column. */
export type RowImage = string;

/** Reads the images of at most `limit` rows, in the order of their text. */
export async function readRowImages(sql: Sql, table: string, where: Fragment, limit = 1): Promise<RowImage[]> {
  // row_to_json copies json columns verbatim and writes timestamps with microseconds.
  const rows = await sql<{ image: string }[]>`
    select row_to_json(each_row)::text as image from ${sql(table)} each_row where ${where} order by 1 limit ${limit}`;
  return rows.map(({ image }) => image);
}

/** Inserts rows from their images. */
export async function insertRowImages(sql: Sql, table: string, images: readonly RowImage[]): Promise<void> {
  if (images.length === 0) return;
  await sql`
    insert into ${sql(table)}
    select restored.* from unnest(${images as string[]}::text[]) as images(image)
    cross join lateral json_populate_record(null::${sql(table)}, images.image::json) as restored`;
}
