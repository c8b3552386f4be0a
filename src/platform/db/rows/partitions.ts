import type { Database, Sql } from "../database.ts";
import { lockFor } from "../locks.ts";
import { deleteBatch } from "./delete-batch.ts";

/**
 * A table with a partition per day and a default partition `<name>_default`. Its names are part of the code, never of a
 * request.
 */
export interface DailyTable {
  readonly name: string;
  /** The timestamp column that it is partitioned by. */
  readonly column: string;
}

/** Inputs of one maintenance run. */
export interface PartitionMaintenance {
  readonly nowMs: number;
  readonly retentionDays: number;
  /** Ends the run between two batches. */
  readonly signal: AbortSignal;
}

const dayMs = 86_400_000;
const daysAhead = 7;
const batchSize = 2000;
const lockNotAvailable = "55P03";

/** Creates the partitions of the coming days and deletes rows older than the retention period. */
export async function maintainPartitions(
  db: Database,
  table: DailyTable,
  { nowMs, retentionDays, signal }: PartitionMaintenance,
): Promise<void> {
  // Whole days only, so that a day's rows are dropped with their partition instead of being deleted.
  const beforeMs = Math.floor((nowMs - retentionDays * dayMs) / dayMs) * dayMs;
  await dropExpiredPartitions(db, table, beforeMs);
  await deleteExpiredRows(db.sql, table, new Date(beforeMs), signal);
  await createPartitions(db, table, nowMs);
}

/**
 * Creates the partitions of the coming days. Rows of such a day that are already in the default partition move, because
 * the service may have been stopped for longer than partitions were created ahead.
 */
async function createPartitions(db: Database, table: DailyTable, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  const known = new Set((await readPartitions(db.sql, table)).map(({ name }) => name));
  for (let nth = 0; nth <= daysAhead; nth++) {
    const day = new Date(today + nth * dayMs);
    const name = partitionName(table, day);
    if (known.has(name)) continue;
    const created = await changePartitions(db, table, (tx) => createPartition(tx, table, day));
    if (created) continue;
    // Later days have time until the next run.
    if (nth < 2) throw new Error(`the partition ${name} could not be locked in time`);
    return;
  }
}

async function createPartition(tx: Sql, table: DailyTable, day: Date): Promise<void> {
  const name = partitionName(table, day);
  const column = tx(table.column);
  const [from, to] = [day, new Date(day.getTime() + dayMs)];
  // Another node may have created it in the meantime.
  if ((await readPartitions(tx, table)).some((partition) => partition.name === name)) return;
  // Writers wait. A row that reached the default partition after the move would prevent the attachment.
  await tx`lock table only ${tx(table.name)} in share row exclusive mode`;
  await tx`create table ${tx(name)} (like ${tx(table.name)} including defaults including constraints)`;
  await tx`
    with moved as (
      delete from ${tx(`${table.name}_default`)} where ${column} >= ${from} and ${column} < ${to} returning *
    )
    insert into ${tx(name)} select * from moved`;
  await tx.unsafe(`
    alter table ${table.name} attach partition ${name}
    for values from ('${from.toISOString()}') to ('${to.toISOString()}')`);
}

/** Drops the partitions whose rows are all older than a time, unless they are being read. */
async function dropExpiredPartitions(db: Database, table: DailyTable, beforeMs: number): Promise<void> {
  for (const { name, untilMs } of await readPartitions(db.sql, table)) {
    if (untilMs === null || untilMs > beforeMs) continue;
    await changePartitions(db, table, async (tx) => {
      await tx`drop table if exists ${tx(name)}`;
    });
  }
}

/** Deletes rows older than a time from partitions that also have later rows, in batches. */
async function deleteExpiredRows(sql: Sql, table: DailyTable, before: Date, signal: AbortSignal): Promise<void> {
  const rows = { table: table.name, where: sql`${sql(table.column)} < ${before}` };
  for (let deleted = batchSize; deleted >= batchSize; ) {
    signal.throwIfAborted();
    deleted = await deleteBatch(sql, rows, batchSize);
  }
}

/**
 * Changes the partitions in a transaction; false when a lock was not free in time. Statements on the table queue behind
 * the lock, so the wait for it is short. The next run tries again.
 */
async function changePartitions(db: Database, table: DailyTable, change: (tx: Sql) => Promise<void>): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await lockFor(tx, "partitions", table.name);
      await tx`set local lock_timeout = '200ms'`;
      await change(tx);
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    return false;
  }
}

/** The partitions with the end of their range; null for the default partition. */
async function readPartitions(sql: Sql, table: DailyTable): Promise<{ name: string; untilMs: number | null }[]> {
  return sql`
    select child.relname::text as name, floor(extract(epoch from
      substring(pg_get_expr(child.relpartbound, child.oid) from $$TO [(]'([^']+)'[)]$$)::timestamptz) * 1000)::float8 as until_ms
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = to_regclass(${table.name})`;
}

function partitionName({ name }: DailyTable, day: Date): string {
  return `${name}_${day.toISOString().slice(0, 10).replaceAll("-", "")}`;
}
