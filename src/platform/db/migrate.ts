import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import semver from "semver";
import { Failure, fail } from "../../errors/index.ts";
import { type Backoff, backoffMs } from "../backoff/backoff.ts";
import { isDatabaseAway } from "./classify.ts";
import { nextRelease, type Release, readStoredRelease, schemaVersionTopic, storeRelease } from "./schema-version.ts";
import { signalChannel } from "./signals/signals.ts";
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
/** A file that begins with this line has statements that PostgreSQL runs in no transaction. Each must be repeatable. */
const OUTSIDE = /^-- Outside of a transaction\b/;

/** No statement timeout: a large table may take long. Calls wait for a migration at most as long as it waits for its lock. */
const patient = { session: { statement_timeout: 0, idle_in_transaction_session_timeout: 0, lock_timeout: 1000 } };
/** How often a node looks whether another one has finished its migration. */
const turnBackoff: Backoff = { firstMs: 50, maxMs: 1000, spread: [0.5, 1] };
/** How long calls go before a migration asks for its lock again. */
const lockBackoff: Backoff = { firstMs: 250, maxMs: 5000, spread: [1, 1.2] };
/** With the back-off, five minutes. */
const lockAttemptsMax = 50;

interface Options {
  /** The version that migrates. Without one, the schema is only compared by its files. */
  readonly release?: Release;
  /** Called when a migration does not get its lock and will ask again. */
  readonly onBlocked?: (name: string, waitMs: number) => void;
}

/**
 * Applies the migrations of a folder: `NNNN_area.sql` creates the tables of an area, `NNNN_area_what.sql` changes them later.
 * Each file and its record are applied in one transaction, so an interruption leaves no partial migration. Concurrent nodes wait
 * for the one that applies a file, and apply the next one. A file outside of a transaction is repeated after an interruption.
 */
export async function migrate(
  url: string,
  folder: string,
  { release, onBlocked = () => {} }: Options = {},
): Promise<{ applied: string[] }> {
  const files = await readMigrations(folder);
  const session = await openSession(url, patient);
  const applied: string[] = [];
  let turns = 0;
  let blocked = 0;
  try {
    for (;;) {
      const step = await session
        .transaction((tx) => applyNext(tx, url, files, release))
        .catch((error) => {
          if (!(error instanceof Blocked) || ++blocked >= lockAttemptsMax) throw error;
          return error;
        });
      if (step === "up to date") return { applied };
      if (step instanceof Blocked) {
        const waitMs = backoffMs(lockBackoff, blocked, Math.random());
        onBlocked(step.migration, waitMs);
        await delay(waitMs);
      } else if (step === "busy") await delay(backoffMs(turnBackoff, ++turns, Math.random()));
      else if (step !== "announced") {
        applied.push(step.name);
        blocked = 0;
      }
    }
  } finally {
    await session.close();
  }
}

/** A migration that did not get a lock in time, because a transaction uses the table. */
class Blocked extends Failure {
  readonly migration: string;

  constructor(migration: string, cause: unknown) {
    const reason = `another transaction uses its table: ${(cause as Error).message}`;
    super("FAILED_PRECONDITION", { public: `The migration ${migration} failed: ${reason}`, cause });
    this.migration = migration;
  }
}

type Step = Migration | "up to date" | "busy" | "announced";

/** Applies the first pending migration. The transaction holds a lock, which other nodes try to get. */
async function applyNext(
  tx: Sql,
  url: string,
  files: readonly Migration[],
  release: Release | undefined,
): Promise<Step> {
  // Trying instead of waiting: a waiting statement has a snapshot, for which a concurrent index creation would wait.
  const [lock] = await tx<[{ isFree: boolean }]>`select pg_try_advisory_xact_lock(${LOCK}) as "isFree"`;
  if (!lock.isFree) return "busy";
  // The server ends the work of a node that was killed. Servers on other systems do not notice.
  await tx`select set_config('client_connection_check_interval', '1s', true) where version() ~ 'linux'`;
  const stored = await readStoredRelease(tx);
  const next = release && nextRelease(release, stored);
  const isNewer = stored !== undefined && release !== undefined && semver.gt(stored.version, release.version);
  const [pending] = compare(files, await readApplied(tx), isNewer);
  // Committed before the first change, so that nodes that cannot bear it stop.
  if (next !== undefined && (stored?.version !== next.version || stored.compatibleSince !== next.compatibleSince)) {
    await storeRelease(tx, next);
    await tx`select pg_notify(${signalChannel}, ${schemaVersionTopic})`;
    return "announced";
  }
  if (pending === undefined) return "up to date";
  await apply(tx, url, pending);
  return pending;
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

/**
 * Returns the pending migrations. The applied ones must be an unchanged prefix of the files. A newer version that runs beside this one
 * may have applied more.
 */
function compare(
  files: readonly Migration[],
  applied: readonly { name: string; sha256: string }[],
  isNewer: boolean,
): Migration[] {
  const known = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const shared = applied.filter(({ name }) => known.has(name));
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  const isAhead = shared.length === files.length && unknown.every((name) => name > files.at(-1)!.name);
  if (unknown.length > 0 && shared.length === files.length && !(isAhead && isNewer)) {
    throw refuse(`The database is ahead of this version: it has ${unknown.join(", ")}. Start a newer version.`);
  }
  if (unknown.length > 0 && !isAhead) {
    throw refuse(`The database was written by an earlier build: it has ${listed(unknown)}. ${removal}`);
  }
  const changed = shared.find(({ name, sha256 }) => known.get(name) !== sha256);
  if (changed !== undefined) {
    throw refuse(
      `The database was written by another build: its migration ${changed.name} differs. ${removal} A migration never ` +
        "changes after it was applied: if you have changed the file, restore it and write a new one.",
    );
  }
  for (const [index, { name }] of shared.entries()) {
    const file = files[index]!;
    if (file.name !== name) {
      throw refuse(
        `The migration ${file.name} comes before ${name}, which is already applied: give it a later number.`,
      );
    }
  }
  return files.slice(shared.length);
}

const removal =
  "This version cannot upgrade it. Export what you need with the build that wrote it, and then start with an empty database: " +
  "remove the data, or choose another data.dir or database.url.";

function listed([first, ...others]: readonly string[]): string {
  return others.length === 0 ? first! : `${first} and ${others.length} more that this version does not know`;
}

async function apply(tx: Sql, url: string, { name, text, sha256 }: Migration): Promise<void> {
  try {
    if (OUTSIDE.test(text)) {
      // A statement as text ends the one before, whose snapshot the creation of an index would wait for.
      await tx.unsafe("select");
      await runOutside(url, text);
    } else await tx.unsafe(text);
    await tx`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`;
  } catch (cause) {
    if (isDatabaseAway(cause)) throw cause;
    const { code } = cause as { code?: unknown };
    if (code === lockNotAvailable || code === deadlockDetected) throw new Blocked(name, cause);
    throw fail("FAILED_PRECONDITION", { public: `The migration ${name} failed: ${(cause as Error).message}`, cause });
  }
}

const lockNotAvailable = "55P03";
const deadlockDetected = "40P01";

/** Runs the statements of a file one by one on a connection of their own, while the transaction of the caller holds the lock. */
async function runOutside(url: string, text: string): Promise<void> {
  // Its locks do not conflict with calls, and it waits for all transactions that are running.
  const { sql, close } = await openSession(url, { session: { ...patient.session, lock_timeout: 0 } });
  try {
    const statements = text.replaceAll(/^--.*\n/gm, "").split(/;\s*$/m);
    for (const statement of statements) if (statement.trim() !== "") await sql.unsafe(statement.trim());
  } finally {
    await close();
  }
}

function refuse(message: string): Error {
  return fail("FAILED_PRECONDITION", { public: message });
}
