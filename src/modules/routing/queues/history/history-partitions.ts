import type { Database, Sql } from "../../../../platform/db/index.ts";

const dayMs = 86_400_000;
const daysAhead = 7;
/** Two nodes never change the partitions at the same time. An arbitrary constant. */
const lockKey = "7340921655031846";
const lockNotAvailable = "55P03";

/**
 * Creates the partitions of the coming days. Rows of such a day that are already in the default partition move, because
 * the service may have been stopped for longer than partitions were created ahead.
 */
export async function createPartitions(db: Database, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  const known = new Set((await readPartitions(db.sql)).map(({ name }) => name));
  for (let nth = 0; nth <= daysAhead; nth++) {
    const day = new Date(today + nth * dayMs);
    if (known.has(partitionName(day))) continue;
    const created = await changePartitions(db, (tx) => createPartition(tx, day));
    // Later days have time until the next run.
    if (!created && nth < 2) throw new Error(`the partition ${partitionName(day)} could not be locked in time`);
  }
}

async function createPartition(tx: Sql, day: Date): Promise<void> {
  const name = tx(partitionName(day));
  const [from, to] = [day, new Date(day.getTime() + dayMs)];
  await tx`create table if not exists ${name} (like routing_history including defaults)`;
  await tx`
    with moved as (
      delete from routing_history_default where ended_at >= ${from} and ended_at < ${to} returning *
    )
    insert into ${name} select * from moved`;
  await tx.unsafe(`
    alter table routing_history attach partition ${partitionName(day)}
    for values from ('${from.toISOString()}') to ('${to.toISOString()}')`);
}

/** Drops the partitions whose rows all ended before a time, unless somebody reads them now. */
export async function dropExpiredPartitions(db: Database, beforeMs: number): Promise<void> {
  for (const { name, untilMs } of await readPartitions(db.sql)) {
    if (untilMs === null || untilMs > beforeMs) continue;
    await changePartitions(db, async (tx) => {
      await tx`drop table if exists ${tx(name)}`;
    });
  }
}

/** Deletes one batch of rows that ended before a time, from partitions that also have later rows; returns their number. */
export async function deleteExpiredHistory(sql: Sql, before: Date, limit: number): Promise<number> {
  const deleted = await sql`
    delete from routing_history where ended_at < ${before} and (tableoid, ctid) in (
      select tableoid, ctid from routing_history where ended_at < ${before} limit ${limit})`;
  return deleted.count;
}

/**
 * Changes the partitions in a transaction; false when a lock was not free in time. Statements on the history queue behind
 * the lock, so the wait for it is short. The next run tries again.
 */
async function changePartitions(db: Database, change: (tx: Sql) => Promise<void>): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await tx`set local lock_timeout = '200ms'`;
      await tx`select pg_advisory_xact_lock(${lockKey}::bigint)`;
      await change(tx);
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    return false;
  }
}

/** The partitions with the end of their range; null for the default partition. */
async function readPartitions(sql: Sql): Promise<{ name: string; untilMs: number | null }[]> {
  return sql`
    select child.relname::text as name, floor(extract(epoch from
      substring(pg_get_expr(child.relpartbound, child.oid) from $$TO [(]'([^']+)'[)]$$)::timestamptz) * 1000)::float8 as until_ms
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'routing_history'::regclass`;
}

function partitionName(day: Date): string {
  return `routing_history_${day.toISOString().slice(0, 10).replaceAll("-", "")}`;
}
