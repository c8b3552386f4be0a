import type { Sql } from "../../src/platform/db/index.ts";
import { until } from "./until.ts";

/** Waits until a statement waits for a lock of another transaction; with `words`, one that contains them. */
export async function untilBlocked(sql: Sql, words = ""): Promise<void> {
  await until(async () => {
    const blocked = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${words}%`}`;
    return blocked.length > 0;
  });
}
