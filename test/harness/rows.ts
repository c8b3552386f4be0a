import type postgres from "postgres";

/** What every table holds: how many rows, and a digest of them. */
export type Rows = Readonly<Record<string, string>>;

// Background work, and what nodes note of recipients, change by themselves.
const livesByItself = [
  "jobs",
  "instance",
  "recipient_states",
  "webhook_cursors",
  "webhook_deliveries",
  "webhook_failures",
  "webhook_replays",
];

// So do notes of a key's last use, and of how often a recipient was sought for an item.
const columnsThatChange = ["last_used_at", "assign_tries", "assign_reason", "assign_snapshot", "assign_after"];

/** Reads what every table holds now; `except` names tables that may change. */
export function readRows(sql: postgres.Sql, except: readonly string[] = []): Promise<Rows> {
  return readTables(sql, except, "count(*) || ' rows ' || coalesce(sum(hashtextextended(line, 0)), 0)");
}

/** Every row as a digest, by table. */
export type Lines = Readonly<Record<string, readonly string[]>>;

/** Reads every row as a digest. */
export function readLines(sql: postgres.Sql, except: readonly string[] = []): Promise<Lines> {
  return readTables(sql, except, "coalesce(array_agg(md5(line)), '{}')");
}

/** How many rows of each table are new or changed; tables without any are left out. */
export function changedLines(before: Lines, after: Lines): Readonly<Record<string, number>> {
  const counts = Object.entries(after).map(([name, lines]) => {
    const known = new Set(before[name]);
    return [name, lines.filter((line) => !known.has(line)).length] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** What an expression over the lines of each table comes to. */
async function readTables<T>(
  sql: postgres.Sql,
  except: readonly string[],
  expression: string,
): Promise<Record<string, T>> {
  const tables = (await tablesOf(sql)).filter(({ name }) => !except.includes(name));
  const parts = tables.map(
    ({ name, line }) => `select '${name}' as name, ${expression} as held from (select ${line} from "${name}" t) lines`,
  );
  const rows = await sql.unsafe<{ name: string; held: T }[]>(parts.join(" union all "), [], { prepare: true });
  return Object.fromEntries(rows.map(({ name, held }) => [name, held]));
}

const knownTables = new WeakMap<postgres.Sql, Promise<readonly { name: string; line: string }[]>>();

/** The tables, each with what makes a line of one of its rows; asked for once, since tests change no tables. */
function tablesOf(sql: postgres.Sql) {
  const known = knownTables.get(sql);
  if (known !== undefined) return known;
  const asked = sql<{ name: string; changing: string[] }[]>`
    select table_name as name,
      coalesce(array_agg(column_name::text) filter (where column_name = any(${columnsThatChange})), '{}') as changing
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all(${livesByItself})
    group by table_name order by table_name`;
  const tables = asked.then((rows) =>
    rows.map(({ name, changing }) => ({
      name,
      line: `${changing.length > 0 ? `(to_jsonb(t) - '{${changing.join(",")}}'::text[])` : "t"}::text as line`,
    })),
  );
  knownTables.set(sql, tables);
  return tables;
}
