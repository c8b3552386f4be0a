import { type Database, openDatabase, type Sql } from "../database.ts";
import { prepareStamps } from "../stamps.ts";
import { readTables, stampColumns } from "./stored-tables.ts";

/** What a repair found and mended. */
export interface RepairReport {
  /** Whether the era was raised, because the rows came from another server. */
  readonly isEraRaised: boolean;
  /** Sequences that were behind the rows that use them. */
  readonly sequences: readonly string[];
  /** Default partitions that were missing. */
  readonly partitions: readonly string[];
}

/** The columns that sequences fill. */
const sequences = [{ sequence: "webhook_delivery_order", table: "webhook_deliveries", column: "sequence" }];

/** Mends what depends on the server or is not in every backup, after rows were restored. Reads all rows that carry stamps. */
export async function repairDatabase(url: string): Promise<RepairReport> {
  const db = openDatabase(url, { maxConnections: 2, statementMs: 86_400_000, applicationName: "switchyard repair" });
  try {
    const { isMoved } = await prepareStamps(db, await readHighestStamp(db.sql));
    return { isEraRaised: isMoved, sequences: await raiseSequences(db.sql), partitions: await mendPartitions(db) };
  } finally {
    await db.close();
  }
}

async function readHighestStamp(sql: Sql): Promise<bigint> {
  let highest = 0n;
  for (const { table, column } of stampColumns(await readTables(sql))) {
    const [row] = await sql<{ max: string }[]>`select coalesce(max(${sql(column)}), 0)::text as max from ${sql(table)}`;
    const stamp = BigInt(row!.max);
    if (stamp > highest) highest = stamp;
  }
  return highest;
}

/** Raises the sequences that are behind the rows that use them; returns their names. */
export async function raiseSequences(sql: Sql): Promise<string[]> {
  const mended: string[] = [];
  for (const { sequence, table, column } of sequences) {
    const set = await sql`
      select setval(${sequence}::regclass, highest)
      from (select max(${sql(column)}) as highest from ${sql(table)}) used
      where highest > coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`;
    if (set.count > 0) mended.push(sequence);
  }
  return mended;
}

async function mendPartitions({ sql }: Database): Promise<string[]> {
  const missing = await sql<{ name: string }[]>`
    select relname::text as name from pg_partitioned_table join pg_class on pg_class.oid = partrelid
    where relnamespace = current_schema()::regnamespace and partdefid = 0`;
  const names = missing.map(({ name }) => `${name}_default`);
  for (const { name } of missing) {
    await sql`create table ${sql(`${name}_default`)} partition of ${sql(name)} default`;
  }
  return names;
}
