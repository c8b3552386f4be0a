import { ulidMs } from "../ids/ulid.ts";
import type { Database, Fragment, Sql } from "./database.ts";

/** Rows that wait for work, or for a person. */
export interface Backlog {
  readonly name: string;
  /** Selects `since`, from when on each row waits, and `id`, a ULID that says so where `since` is null. */
  readonly rows: (sql: Sql) => Fragment;
}

/** The state of a backlog. */
export interface BacklogState {
  readonly name: string;
  readonly rows: number;
  /** How long the longest-waiting row has waited; 0 without rows. */
  readonly oldestMs: number;
}

/** The most rows of a backlog that are read. So many are too many, whatever their age. */
const rowsMax = 10_000;

/** Reads all backlogs in one statement, of each the first rows. Those whose time has not come do not count. */
export async function readBacklogs(
  { sql }: Pick<Database, "sql">,
  backlogs: readonly Backlog[],
): Promise<BacklogState[]> {
  const each = backlogs
    .map(
      ({ name, rows }) => sql`
        select ${name} as name, count(*)::int as rows, min(since) as since, min(id) filter (where since is null) as id
        from (${rows(sql)} limit ${rowsMax}) as first (since, id) where since is null or since <= now()`,
    )
    .reduce((all, one) => sql`${all} union all ${one}`);
  const found = await sql<{ name: string; rows: number; since: Date | null; id: string | null; now: Date }[]>`
    select backlogs.*, now() as now from (${each}) as backlogs`;
  return found.map(({ name, rows, since, id, now }) => {
    const sinceMs = [since?.getTime(), id === null ? undefined : ulidMs(id)].filter((ms) => ms !== undefined);
    return { name, rows, oldestMs: Math.max(0, ...sinceMs.map((ms) => now.getTime() - ms)) };
  });
}
