import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { BulkOperation, BulkState } from "./domain/bulk-operation.ts";

export interface BatchResult {
  readonly position: string;
  readonly changed: number;
  readonly skipped: number;
  /** Whether no item is left. */
  readonly ended: boolean;
}

const keptDays = 30;

const operations = recordTable<BulkOperation>("bulk_operations", {
  fixed: `tenant_id id pool_id environment_key action filter reason max_items state position batch matched_count
    changed_count skipped_count error created_by created_at updated_at ended_at`,
});

export function bulkStore(sql: Sql) {
  const { columns, insert, find, lock, count, listWhere } = operations(sql);
  return {
    insert,
    find,
    lock,
    list: listWhere,
    countUnfinished: (tenantId: TenantId) => count(tenantId, sql`state in ('queued', 'running')`),

    /** Ends an operation before all items are handled. A batch that is being executed still counts. */
    async end(tenantId: TenantId, id: string, state: BulkState, error: string, now: Date): Promise<BulkOperation> {
      const [row] = await sql<BulkOperation[]>`
        update bulk_operations set state = ${state}, error = ${error}, updated_at = ${now}, ended_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} returning ${columns}`;
      return row!;
    },

    /** Notes which dead letters are being retried. */
    async beginBatch(tenantId: TenantId, id: string, batch: readonly string[], now: Date): Promise<void> {
      await sql`
        update bulk_operations set state = 'running', batch = ${batch as string[]}::text[], updated_at = ${now}
        where tenant_id = ${tenantId} and id = ${id}`;
    },

    /** Stores the progress after a batch. An operation that was ended meanwhile stays ended. */
    async advance(tenantId: TenantId, id: string, result: BatchResult, now: Date): Promise<BulkOperation> {
      const { position, changed, skipped, ended } = result;
      const [row] = await sql<BulkOperation[]>`
        update bulk_operations set
          state = case when ended_at is null then ${ended ? "completed" : "running"} else state end,
          position = ${position}, batch = null, changed_count = changed_count + ${changed},
          skipped_count = skipped_count + ${skipped}, updated_at = ${now},
          ended_at = coalesce(ended_at, ${ended ? now : null}::timestamptz)
        where tenant_id = ${tenantId} and id = ${id} returning ${columns}`;
      return row!;
    },

    /** Deletes operations of a tenant that ended long ago. */
    async removeOld(tenantId: TenantId, now: Date): Promise<void> {
      await sql`
        delete from bulk_operations where (tenant_id, id) in (
          select tenant_id, id from bulk_operations
          where tenant_id = ${tenantId} and ended_at < ${now}::timestamptz - make_interval(days => ${keptDays}) limit 1000)`;
    },

    /** Makes items ready that wait for a retry; returns their ids. Rows are locked in the global lock order. */
    async skipBackoff(tenantId: TenantId, poolId: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return [];
      const rows = await sql<{ id: string }[]>`
        with waiting as (
          select tenant_id, id from queue_items
          where tenant_id = ${tenantId} and id = any(${ids as string[]}) and pool_id = ${poolId} and state = 'pending'
            and hold_reason = 'retry'
          order by id for update
        )
        update queue_items q set state = 'ready', hold_reason = '', due_at = now()
        from waiting where q.tenant_id = waiting.tenant_id and q.id = waiting.id
        returning q.id`;
      return rows.map(({ id }) => id);
    },
  };
}
