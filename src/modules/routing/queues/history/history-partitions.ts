import type { Database, Sql } from "../../../../platform/db/index.ts";

const dayMs = 86_400_000;
const daysAhead = 7;
/** Two nodes never change the partitions at the same time. An arbitrary constant. */
const lockKey = "7340921655031846";

/**
 * Creates the partitions of the coming days. Statements on the history wait for a new partition to be attached, so it is
 * given up after two seconds and tried again by the next run.
 */
export async function createPartitions(db: Database, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  const days = Array.from({ length: daysAhead + 1 }, (_, nth) => new Date(today + nth * dayMs));
  const known = new Set((await readPartitions(db.sql)).map(({ name }) => name));
  for (const day of days.filter((each) => !known.has(partitionName(each)))) {
    await db.transaction(async (tx) => {
      await lockPartitions(tx);
      const name = partitionName(day);
      const [from, to] = [day.toISOString(), new Date(day.getTime() + dayMs).toISOString()];
      await tx.unsafe(`
        create table if not exists ${name} partition of routing_history for values from ('${from}') to ('${to}')`);
    });
  }
}

/** Drops the partitions whose rows all ended before a time; returns their names. */
export async function dropExpiredPartitions(db: Database, beforeMs: number): Promise<string[]> {
  const expired = (await readPartitions(db.sql)).filter(({ untilMs }) => untilMs !== null && untilMs <= beforeMs);
  for (const { name } of expired) {
    await db.transaction(async (tx) => {
      await lockPartitions(tx);
      await tx`drop table if exists ${tx(name)}`;
    });
  }
  return expired.map(({ name }) => name);
}

/** Deletes one batch of rows that ended before a time, from partitions that also have later rows; returns their number. */
export async function deleteExpiredHistory(sql: Sql, before: Date, limit: number): Promise<number> {
  const deleted = await sql`
    delete from routing_history where (tableoid, ctid) in (
      select tableoid, ctid from routing_history where ended_at < ${before} limit ${limit})`;
  return deleted.count;
}

async function lockPartitions(tx: Sql): Promise<void> {
  await tx`set local lock_timeout = '2s'`;
  await tx`select pg_advisory_xact_lock(${lockKey}::bigint)`;
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
