import type { Sql } from "../../../platform/db/index.ts";

/** The time of the database, to the millisecond. It decides about leases, deadlines and expiry on every node alike. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select date_trunc('milliseconds', clock_timestamp()) as now`;
  return row!.now;
}
