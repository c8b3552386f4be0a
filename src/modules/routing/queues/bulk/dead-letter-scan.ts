import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { BulkCount, DeadLetterFilter } from "./domain/bulk-operation.ts";
import { countMax } from "./item-scan.ts";

/** The dead letters that a scan reads. */
export interface LetterRange {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** Only letters after this item. */
  readonly after: string;
  /** Only letters that failed before this time. */
  readonly failedBeforeMs: number;
}

/** The queries that find the dead letters of an operation. */
export function deadLetterScan(sql: Sql, filter: DeadLetterFilter) {
  function matches({ tenantId, poolId, after, failedBeforeMs }: LetterRange): Fragment {
    const { reasonCode, phase, type, key, failedAfterMs } = filter;
    const beforeMs = Math.min(failedBeforeMs, filter.failedBeforeMs ?? failedBeforeMs);
    return sql`letter.tenant_id = ${tenantId} and letter.pool_id = ${poolId} and letter.queue_item_id > ${after}
      and letter.state = 'failed' and letter.retry_count < letter.max_retries
      and letter.last_failed_at < ${new Date(beforeMs)}
      ${failedAfterMs === undefined ? sql`` : sql`and letter.last_failed_at >= ${new Date(failedAfterMs)}`}
      ${reasonCode === "" ? sql`` : sql`and letter.reason_code = ${reasonCode}`}
      ${phase === "" ? sql`` : sql`and letter.phase = ${phase}`}
      ${type === "" ? sql`` : sql`and item.type = ${type}`} ${key === "" ? sql`` : sql`and item.key = ${key}`}`;
  }

  /** Letters with their items. */
  const letters = sql`dead_letters letter
    join queue_items item on item.tenant_id = letter.tenant_id and item.id = letter.queue_item_id`;

  return {
    /** The ids of the next matching items, in order. */
    async readPage(range: LetterRange, limit: number): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        select letter.queue_item_id as id from ${letters} where ${matches(range)}
        order by letter.queue_item_id limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    async count(range: LetterRange): Promise<BulkCount> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from (select from ${letters} where ${matches(range)} limit ${countMax}) found`;
      const { count } = row!;
      return { count, countByState: count === 0 ? {} : { failed: count }, capped: count >= countMax };
    },
  };
}
