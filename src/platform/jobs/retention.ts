import type { TenantId } from "../access/index.ts";
import type { Clock } from "../clock/clock.ts";
import {
  type DailyTable,
  type Database,
  deleteBatch,
  type Fragment,
  maintainPartitions,
  type Sql,
} from "../db/index.ts";
import { runInBatches } from "./batches.ts";
import type { JobKind } from "./runner.ts";

/** Dependencies of every retention job. */
export interface RetentionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/** A tenant with the time before which its rows are expired. */
export interface TenantCutoff {
  readonly tenantId: TenantId;
  readonly before: Date;
}

/** A table whose rows expire by a timestamp column. Its names are part of the code, never of a request. */
export interface ExpiringTable {
  readonly table: string;
  readonly column: string;
  /** Limits the deletion to some rows. */
  readonly where?: (sql: Sql) => Fragment;
  /** Deletes the oldest rows first, for tables with a B-tree index on the column. */
  readonly oldestFirst?: boolean;
}

/** Rows that expire at the same age. */
export type ExpiringRows = {
  /** How long rows are stored; 0 if not set, for rows with a time of expiry. */
  readonly ageMs?: number;
  /** Replaces the batch size of the job. */
  readonly batchSize?: number;
} & (
  | ExpiringTable
  | { readonly partitions: DailyTable }
  /** Expires up to `limit` rows of all tenants; returns their number. */
  | { readonly expire: (sql: Sql, before: Date, limit: number) => Promise<number> }
  | {
      readonly tenants: (sql: Sql, before: Date) => Promise<readonly TenantCutoff[]>;
      readonly expireOf: (sql: Sql, tenant: TenantCutoff, limit: number) => Promise<number>;
    }
);

/** A retention job and its deletions, in order. */
export interface Retention {
  readonly kind: string;
  readonly everyMs: number;
  readonly batchSize?: number;
  readonly rows: readonly ExpiringRows[];
}

const dayMs = 86_400_000;

/** Creates a job that deletes expired rows of all tenants in batches. */
export function retentionJob(
  { db, clock, platformTenantId }: RetentionDependencies,
  { kind, everyMs, batchSize = 2000, rows }: Retention,
): JobKind {
  const { sql } = db;

  async function expire(each: ExpiringRows, nowMs: number, signal: AbortSignal): Promise<void> {
    const { ageMs = 0, batchSize: size = batchSize } = each;
    const before = new Date(nowMs - ageMs);
    if ("partitions" in each) {
      await maintainPartitions(db, each.partitions, { nowMs, retentionDays: ageMs / dayMs, signal });
    } else if ("tenants" in each) {
      for (const tenant of await each.tenants(sql, before)) {
        await runInBatches(signal, size, (limit) => each.expireOf(sql, tenant, limit));
      }
    } else {
      await runInBatches(signal, size, (limit) =>
        "expire" in each ? each.expire(sql, before, limit) : deleteRows(sql, each, before, limit),
      );
    }
  }

  return {
    kind,
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const nowMs = clock.now();
      for (const each of rows) await expire(each, nowMs, signal);
    },
  };
}

/** Deletes up to `limit` rows older than a time; returns their number. */
function deleteRows(sql: Sql, { table, column, where, oldestFirst }: ExpiringTable, before: Date, limit: number) {
  const isOld = sql`${sql(column)} < ${before}`;
  const rows = { table, where: where === undefined ? isOld : sql`${isOld} and ${where(sql)}` };
  return deleteBatch(sql, oldestFirst ? { ...rows, orderBy: sql`${sql(column)}` } : rows, limit);
}
