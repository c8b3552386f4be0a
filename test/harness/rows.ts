import type postgres from "postgres";

/** What every table holds: how many rows, and a digest of them. */
export type Rows = Readonly<Record<string, string>>;

// Background work and notes of a key's last use change by themselves.
const livesByItself = ["jobs", "instance"];

/** Reads what every table holds now; `except` names tables that may change. */
export async function readRows(sql: postgres.Sql, except: readonly string[] = []): Promise<Rows> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all(${[...livesByItself, ...except]})
    order by table_name`;
  const parts = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ' rows ' || coalesce(md5(string_agg(line, ',' order by line)), '') as held
       from (select (to_jsonb(t) - 'last_used_at')::text as line from "${name}" t) lines`,
  );
  const rows = await sql.unsafe<{ name: string; held: string }[]>(parts.join(" union all "));
  return Object.fromEntries(rows.map(({ name, held }) => [name, held]));
}
