import type { Fragment, Sql } from "../database.ts";

/** The time this long from now, by the clock of the database: the clocks of nodes do not matter. */
export function fromNow(sql: Sql, ms: number): Fragment {
  return sql`now() + ${ms} * interval '1 millisecond'`;
}
