import type { Sql } from "../database.ts";

/** Why no node may use this database: its rows were moved to another one. Undefined if they were not. */
export async function movedTo(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: { to: string; at: string } }[]>`select value from instance where name = 'moved'`;
  return (
    row &&
    `database.url: the database was moved to ${row.value.to} at ${row.value.at}. Set database.url to it. To use this one ` +
      "again, and lose what was written there since: delete from instance where name = 'moved'"
  );
}

/** Marks a database as moved, so that no node starts on it. */
export async function markAsMoved(tx: Sql, to: string, at: Date): Promise<void> {
  await tx`insert into instance (name, value) values ('moved', ${tx.json({ to, at: at.toISOString() })})`;
}

/** A database URL without its password, for people. */
export function shownUrl(url: string): string {
  const shown = new URL(url);
  shown.password = "";
  return decodeURIComponent(shown.href);
}
