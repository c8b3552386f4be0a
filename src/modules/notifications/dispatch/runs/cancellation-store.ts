import type { TenantId } from "../../../../platform/access/index.ts";
import { joinSelected, type Sql } from "../../../../platform/db/index.ts";

interface CancelledRun {
  readonly id: string;
  /** Whether it was part of a digest that another run leads. */
  readonly wasCollected: boolean;
}

/** SQL queries that cancel a trigger. Runs are locked in the order of their ids. */
export function cancellationStore(sql: Sql) {
  return {
    /**
     * Marks a trigger as cancelled, so that whatever is due later is not sent; false when there is no such trigger. A
     * trigger whose payload is deleted has nothing left to send.
     */
    async mark(tenantId: TenantId, transactionId: string, now: Date): Promise<boolean> {
      const marked = await sql`
        update notification_payloads set cancelled_at = coalesce(cancelled_at, ${now})
        where tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
      if (marked.count > 0) return true;
      const own = sql`tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
      const found = await sql`
        (select from notification_deliveries where ${own} limit 1) union all
        (select from notification_runs where ${own} limit 1) union all
        (select from notification_broadcasts where ${own})`;
      return found.length > 0;
    },

    /** Cancels up to `limit` runs that have not ended. Leases of other nodes end with it. */
    async cancelRuns(tenantId: TenantId, transactionId: string, now: Date, limit: number): Promise<CancelledRun[]> {
      return sql<CancelledRun[]>`
        with open as (
          select id, status from notification_runs
          where tenant_id = ${tenantId} and transaction_id = ${transactionId}
            and status in ('waiting', 'running', 'collected')
          order by id limit ${limit} for update
        )
        update notification_runs run set status = 'cancelled', reason = 'cancelled', wake_at = null, awaited_id = '',
          lease_token = '', lease_until = null, updated_at = ${now}
        from open where run.tenant_id = ${tenantId} and run.id = open.id
        returning run.id, open.status = 'collected' as was_collected`;
    },

    /** Completes runs whose digest ended while they were cancelled. */
    async keepDigested(tenantId: TenantId, runIds: readonly string[]): Promise<void> {
      await sql`
        update notification_runs set status = 'completed', reason = 'digested'
        where tenant_id = ${tenantId} and id = any(${runIds as string[]}::text[])`;
    },

    /**
     * Skips up to `limit` queued deliveries; returns their channels. A message that a provider may already have stays
     * queued, and so does one that is being redriven: they end when they are due.
     */
    async cancelDeliveries(tenantId: TenantId, transactionId: string, now: Date, limit: number): Promise<string[]> {
      const queued = sql`
        from notification_deliveries
        where tenant_id = ${tenantId} and transaction_id = ${transactionId} and status = 'queued'
          and not reconciliation_required and dead_letter_id = ''
        limit ${limit} for update`;
      const rows = await sql<{ channel: string }[]>`
        update notification_deliveries set status = 'skipped', failure_phase = 'system', failure_code = 'cancelled',
          failure_detail = 'The trigger was cancelled.', retryable = false, next_attempt_at = null,
          completed_at = ${now}
        from ${joinSelected(sql, "notification_deliveries", queued)}
        returning channel`;
      return rows.map(({ channel }) => channel);
    },
  };
}
