import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../errors/index.ts";
import { isDatabaseAway } from "./classify.ts";
import { openSession } from "./sql/session.ts";
import type { Sql } from "./sql/sql.ts";

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

const NAME = /^(\d{4})(_[a-z0-9]+)+\.sql$/;
// An arbitrary constant; it spells "migrate".
const LOCK = "30796706127049829";

/**
 * Applies the migrations of a folder: `NNNN_area.sql` creates the tables of an area, `NNNN_area_what.sql` changes them later.
 * Each file and its record are applied in one transaction, so an interruption leaves no partial migration. Concurrent nodes wait
 * for the one that applies a file, and apply the next one.
 */
export async function migrate(url: string, folder: string): Promise<{ applied: string[] }> {
  const files = await readMigrations(folder);
  // No statement timeout: another node or a large table may take long.
  const session = await openSession(url, { session: { statement_timeout: 0 } });
  const applied: string[] = [];
  try {
    for (;;) {
      const name = await session.transaction((tx) => applyNext(tx, files));
      if (name === undefined) return { applied };
      applied.push(name);
    }
  } finally {
    await session.close();
  }
}

/** Applies the first pending migration and returns its name. */
async function applyNext(tx: Sql, files: readonly Migration[]): Promise<string | undefined> {
  // A lock of the transaction, because behind a pooler the session may belong to another connection next.
  await tx`select pg_advisory_xact_lock(${LOCK})`;
  const [next] = compare(files, await readApplied(tx));
  if (next !== undefined) await apply(tx, next);
  return next?.name;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  let last = "";
  for (const name of names) {
    const number = NAME.exec(name)?.[1];
    if (!number) throw refuse(`The migration ${name} is not named like 0012_area_what.sql.`);
    if (number === last) throw refuse(`Two migrations have the number ${number}.`);
    last = number;
  }
  return Promise.all(
    names.map(async (name) => {
      // A checkout may have converted the line endings, which must not change the digest.
      const text = (await readFile(join(folder, name), "utf8")).replaceAll("\r\n", "\n");
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

async function readApplied(sql: Sql): Promise<{ name: string; sha256: string }[]> {
  await sql`
    create table if not exists schema_migrations (
      name       text primary key,
      sha256     text not null,
      applied_at timestamptz not null default now()
    )`;
  return sql`select name, sha256 from schema_migrations order by name collate "C"`;
}

/** Returns the pending migrations. The applied ones must be an unchanged prefix of the files. */
function compare(files: readonly Migration[], applied: readonly { name: string; sha256: string }[]): Migration[] {
  const known = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const shared = applied.filter(({ name }) => known.has(name));
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (unknown.length > 0 && shared.length === files.length) {
    throw refuse(`The database is ahead of this version: it has ${unknown.join(", ")}. Start a newer version.`);
  }
  if (unknown.length > 0) {
    throw refuse(`The database was written by an earlier build: it has ${listed(unknown)}. ${removal}`);
  }
  const changed = shared.find(({ name, sha256 }) => known.get(name) !== sha256);
  if (changed !== undefined) {
    throw refuse(
      `The database was written by another build: its migration ${changed.name} differs. ${removal} A migration never ` +
        "changes after it was applied: if you have changed the file, restore it and write a new one.",
    );
  }
  for (const [index, { name }] of applied.entries()) {
    const file = files[index]!;
    if (file.name !== name) {
      throw refuse(
        `The migration ${file.name} comes before ${name}, which is already applied: give it a later number.`,
      );
    }
  }
  return files.slice(applied.length);
}

const removal =
  "This version cannot upgrade it. Export what you need with the build that wrote it, and then start with an empty database: " +
  "remove the data, or choose another data.dir or database.url.";

function listed([first, ...others]: readonly string[]): string {
  return others.length === 0 ? first! : `${first} and ${others.length} more that this version does not know`;
}

async function apply(tx: Sql, { name, text, sha256 }: Migration): Promise<void> {
  try {
    await tx.unsafe(text);
    await tx`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`;
  } catch (cause) {
    if (isDatabaseAway(cause)) throw cause;
    throw fail("FAILED_PRECONDITION", { public: `The migration ${name} failed: ${(cause as Error).message}`, cause });
  }
}

function refuse(message: string): Error {
  return fail("FAILED_PRECONDITION", { public: message });
}
