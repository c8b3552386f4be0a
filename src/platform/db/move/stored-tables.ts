import type { Sql } from "../database.ts";

/** A table with rows of its own, or a partitioned one. Columns that PostgreSQL computes are left out. */
export interface StoredTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The types of the columns. */
  readonly types: readonly string[];
  /** The columns of the primary key; empty without one. */
  readonly key: readonly string[];
}

/** The number of rows of a table, and a sum over their texts in which their order does not matter. */
export interface Digest {
  readonly rows: string;
  readonly sum: string;
}

const ownSchema = "current_schema()::regnamespace";

/** The tables of the schema; partitions are read through their table. */
export function readTables(sql: Sql): Promise<StoredTable[]> {
  return sql.unsafe<StoredTable[]>(`
    select relname::text as name, columns, types, array(
        select attname::text from pg_index, unnest(indkey::int[]) with ordinality as part(number, nth)
          join pg_attribute on attrelid = c.oid and attnum = number
        where indrelid = c.oid and indisprimary order by nth) as key
    from pg_class c cross join lateral (
      select array_agg(attname::text order by attnum) as columns,
        array_agg(format_type(atttypid, atttypmod) order by attnum) as types
      from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') stored
    where relnamespace = ${ownSchema} and relkind in ('r', 'p') and not relispartition order by relname`);
}

/** The columns that contain stamps. */
export function stampColumns(tables: readonly StoredTable[]): { readonly table: string; readonly column: string }[] {
  return tables.flatMap(({ name, columns }) =>
    columns.filter((column) => /(^|_)stamp$/.test(column)).map((column) => ({ table: name, column })),
  );
}

/** The identifier as SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export async function readDigest(sql: Sql, { name }: StoredTable): Promise<Digest> {
  const [digest] = await sql<Digest[]>`
    select count(*)::text as rows,
      coalesce(sum(('x' || left(encode(sha256(convert_to(t::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint), 0)::text as sum
    from ${sql(name)} t`;
  return digest!;
}

/** The statements that create the partitions. */
export async function readPartitions(sql: Sql): Promise<{ readonly name: string; readonly statement: string }[]> {
  return sql.unsafe(`
    select child.relname::text as name,
      format('create table %I partition of %I %s', child.relname, parent.relname, pg_get_expr(child.relpartbound, child.oid))
        as statement
    from pg_inherits join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
    where child.relnamespace = ${ownSchema} and child.relispartition and child.relkind = 'r'`);
}

/** The sequences that were used, with their last values. */
export async function readSequences(sql: Sql): Promise<{ readonly name: string; readonly last: string }[]> {
  return sql`
    select sequencename::text as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() and last_value is not null`;
}
