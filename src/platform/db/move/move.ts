import { fail } from "../../../errors/index.ts";
import type { Sql } from "../database.ts";
import { migrate } from "../migrate.ts";
import type { Release } from "../schema-version.ts";
import { checkServer } from "../server-check.ts";
import { openSession, type Session } from "../sql/session.ts";
import { markAsMoved, movedTo, shownUrl } from "./moved-mark.ts";
import {
  type Digest,
  quoted,
  readDigest,
  readPartitions,
  readSequences,
  readTables,
  type StoredTable,
} from "./stored-tables.ts";

/** What was moved. */
export interface MoveReport {
  readonly tables: number;
  readonly rows: number;
  /** The rows were copied by an earlier move that was interrupted before it marked the source. */
  readonly isResumed: boolean;
}

interface Move {
  readonly from: string;
  readonly to: string;
  /** The folder of the migrations. */
  readonly migrations: string;
  /** The version that moves, and migrates both databases. */
  readonly release: Release;
  readonly now: Date;
}

/** Locks, reads and verifications may take long; a value of zero is no limit. */
export const patient = {
  session: { statement_timeout: 0, idle_in_transaction_session_timeout: 0, lock_timeout: 10_000, TimeZone: "UTC" },
};

/**
 * Moves all rows to another PostgreSQL and marks the source as moved. No node may run meanwhile. Everything is committed on the
 * target in one transaction, and only then is the source marked: an interruption leaves the source as it was, and the next move
 * repeats or finishes the work.
 */
export async function moveDatabase({ from, to, migrations, release, now }: Move): Promise<MoveReport> {
  await requireSuitable(to);
  await migrate(from, migrations, { release });
  const source = await openSession(from, patient);
  try {
    const target = await openSession(to, patient);
    try {
      await requireOther(source.sql, target.sql);
      await migrate(to, migrations, { release });
      return await source.transaction(async (tx) => {
        await lockSource(tx);
        const report = await copyAll(source, tx, target);
        await markAsMoved(tx, shownUrl(to), now);
        return report;
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function requireSuitable(url: string): Promise<void> {
  const fatal = (await checkServer(url, 0)).problems.find(({ isFatal }) => isFatal);
  if (fatal !== undefined) throw refuse(`the target is not suitable: ${fatal.message}. ${fatal.remedy}`);
}

/** Refuses the source itself, and a target with tables of another program. */
async function requireOther(source: Sql, target: Sql): Promise<void> {
  const [from, to] = [await readIdentity(source), await readIdentity(target)];
  if (from === to) throw refuse("the target is the database itself.");
  const tables = await readTables(target);
  if (tables.length > 0 && !tables.some(({ name }) => name === "schema_migrations")) {
    throw refuse(`the target is not empty: it has the table ${tables[0]!.name}. Choose an empty database.`);
  }
}

async function readIdentity(sql: Sql): Promise<string> {
  const [row] = await sql<{ identity: string }[]>`
    select system_identifier || '/' || current_database() as identity from pg_control_system()`;
  return row!.identity;
}

/** Keeps nodes from starting, and refuses if one runs. The snapshot of the transaction begins after the lock. */
async function lockSource(tx: Sql): Promise<void> {
  await tx`set transaction isolation level repeatable read`;
  await tx`lock table instance in access exclusive mode`;
  const moved = await movedTo(tx);
  if (moved !== undefined) throw refuse(moved);
  const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'switchyard%'`;
  if (count > 0) throw refuse(`nodes use the database over ${count} connections: stop them first.`);
}

/** Each database has its own rows there, from the migrations that ran in it. */
const tablesOfMigrations = ["schema_migrations", "schema_version"];

async function copyAll(source: Session, tx: Sql, target: Session): Promise<MoveReport> {
  const tables = (await readTables(tx)).filter(({ name }) => !tablesOfMigrations.includes(name));
  return target.transaction(async (into) => {
    const isResumed = !(await isEmpty(into, tables));
    if (!isResumed) {
      await createPartitions(tx, into);
      for (const table of tables) await copyTable(source, target, table);
      for (const { name, last } of await readSequences(tx))
        await into`select setval(${name}::regclass, ${last}::bigint)`;
    }
    let rows = 0;
    for (const table of tables) {
      const [original, copy] = await Promise.all([readDigest(tx, table), readDigest(into, table)]);
      requireEqual(table, original, copy, isResumed);
      rows += Number(original.rows);
    }
    return { tables: tables.length, rows, isResumed };
  });
}

async function isEmpty(sql: Sql, tables: readonly StoredTable[]): Promise<boolean> {
  for (const { name } of tables) if ((await sql`select from ${sql(name)} limit 1`).count > 0) return false;
  return true;
}

async function createPartitions(from: Sql, into: Sql): Promise<void> {
  const existing = new Set((await readPartitions(into)).map(({ name }) => name));
  for (const { name, statement } of await readPartitions(from)) if (!existing.has(name)) await into.unsafe(statement);
}

async function copyTable(source: Session, target: Session, { name, columns }: StoredTable): Promise<void> {
  const list = columns.map(quoted).join(", ");
  await source.copyTo(
    target,
    `copy (select ${list} from ${quoted(name)}) to stdout`,
    `copy ${quoted(name)} (${list}) from stdin`,
  );
}

function requireEqual({ name }: StoredTable, original: Digest, copy: Digest, isResumed: boolean): void {
  if (original.rows === copy.rows && original.sum === copy.sum) return;
  throw refuse(
    isResumed
      ? `the target is not empty, and no copy: its table ${name} has other rows. Choose an empty database.`
      : `the rows of ${name} differ after the copy: ${copy.rows} of ${original.rows} rows. Nothing was moved.`,
  );
}

function refuse(reason: string): Error {
  return fail("FAILED_PRECONDITION", { public: reason });
}
