/** The door of platform/db. */
import type postgres from "postgres";

/** What runs SQL: the pool, or a transaction. */
export type Sql = postgres.ISql<Record<string, never>>;
