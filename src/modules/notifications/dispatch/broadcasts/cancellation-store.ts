import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Broadcast, BroadcastProgress } from "../domain/broadcast.ts";
import { cancelRuns } from "../runs/cancellation.ts";
import { broadcastColumns } from "./broadcast-store.ts";

const deliveriesPerPage = 2000;
/** Deliveries that were being sent may be queued again for a retry, so they are looked at once more after this time. */
const againAfterS = 2;

export function cancellationStore(sql: Sql) {
  return {
    /** Counts a broadcast's deliveries by status, up to a maximum. */
    async progress(tenantId: TenantId, broadcastId: string, countedMax: number): Promise<BroadcastProgress> {
      const [row] = await sql<(Omit<BroadcastProgress, "capped"> & { total: number })[]>`
        select count(*) filter (where status = 'queued')::int as queued,
          count(*) filter (where status = 'running')::int as running,
          count(*) filter (where status = 'sent')::int as sent,
          count(*) filter (where status = 'failed')::int as failed,
          count(*) filter (where status = 'skipped')::int as skipped,
          count(*)::int as total
        from (
          select status from notification_deliveries
          where tenant_id = ${tenantId} and broadcast_id = ${broadcastId} and broadcast_id <> ''
          limit ${countedMax + 1}) as counted`;
      const { total, ...counts } = row!;
      return { ...counts, capped: total > countedMax };
    },

    lock: (tenantId: TenantId, broadcastId: string) =>
      sql<Broadcast[]>`
        select ${broadcastColumns(sql)} from notification_broadcasts
        where tenant_id = ${tenantId} and transaction_id = ${broadcastId} for update`.first(),

    /** Whether a run or a delivery of a broadcast waits or is being sent. */
    async hasWaiting(tenantId: TenantId, broadcastId: string): Promise<boolean> {
      const found = await sql`
        select from notification_deliveries
        where tenant_id = ${tenantId} and broadcast_id = ${broadcastId} and broadcast_id <> ''
          and status in ('queued', 'running') limit 1`;
      if (found.length > 0) return true;
      const runs = await sql`
        select from notification_runs where tenant_id = ${tenantId} and transaction_id = ${broadcastId}
          and status in ('waiting', 'running', 'collected') limit 1`;
      return runs.length > 0;
    },

    /** Starts the cancellation of a locked broadcast. */
    async begin(tenantId: TenantId, broadcastId: string, by: string, now: Date): Promise<Broadcast> {
      const [row] = await sql<Broadcast[]>`
        update notification_broadcasts set status = 'cancelling', cancelled_by = ${by}, position = '', failures = 0,
          next_page_at = now(), updated_at = ${now}
        where tenant_id = ${tenantId} and transaction_id = ${broadcastId}
        returning ${broadcastColumns(sql)}`;
      return row!;
    },

    /**
     * Skips the waiting deliveries of the next page. Deliveries that another transaction has locked are left out: they are
     * about to be sent. One that is being redriven ends when it is due, together with its dead letter.
     */
    async skipPage({ tenantId, transactionId, position }: Broadcast, now: Date) {
      const [row] = await sql<{ seen: number; last: string | null }[]>`
        with page as materialized (
          select id, status, dead_letter_id from notification_deliveries
          where tenant_id = ${tenantId} and broadcast_id = ${transactionId} and broadcast_id <> '' and id > ${position}
          order by id limit ${deliveriesPerPage} for update skip locked
        ), skipped as (
          update notification_deliveries as delivery set status = 'skipped', failure_phase = 'system',
            failure_code = 'cancelled', failure_detail = 'The broadcast was cancelled.', retryable = false,
            next_attempt_at = null, completed_at = ${now}
          from page where delivery.tenant_id = ${tenantId} and delivery.id = page.id and page.status = 'queued'
            and page.dead_letter_id = ''
        )
        select count(*)::int as seen, max(id::text collate "C") as last from page`;
      return row!;
    },

    /** Saves how far a cancellation is. */
    async advance(
      { tenantId, transactionId }: Broadcast,
      next: { readonly status: "cancelling" | "cancelled"; readonly position: string; readonly afterS: number },
      now: Date,
    ): Promise<void> {
      await sql`
        update notification_broadcasts set status = ${next.status}, position = ${next.position}, updated_at = ${now},
          next_page_at = now() + make_interval(secs => ${next.afterS})
        where tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
    },
  };
}

/** Skips one page of a broadcast that is being cancelled. It is cancelled once nothing waits and nothing is being sent. */
export async function cancelPage(tx: Sql, broadcast: Broadcast, now: Date): Promise<void> {
  const store = cancellationStore(tx);
  const { seen, last } = await store.skipPage(broadcast, now);
  if (seen === deliveriesPerPage) {
    await store.advance(broadcast, { status: "cancelling", position: last!, afterS: 0 }, now);
    return;
  }
  const { tenantId, transactionId } = broadcast;
  // One call cancels a limited number of runs, and the rest may be due much later.
  await cancelRuns(tx, tenantId, transactionId, now);
  if (await store.hasWaiting(tenantId, transactionId)) {
    await store.advance(broadcast, { status: "cancelling", position: "", afterS: againAfterS }, now);
  } else await store.advance(broadcast, { status: "cancelled", position: "", afterS: 0 }, now);
}
