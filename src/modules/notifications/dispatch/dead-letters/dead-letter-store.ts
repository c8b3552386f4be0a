import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { DeadLetter, DeadLetterStatus } from "../domain/dead-letter.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";

/** Which dead letters a list shows; undefined asks for no such thing. */
export interface DeadLetterFilter {
  readonly status: DeadLetterStatus | undefined;
  readonly channel: string | undefined;
}

/** The SQL of notifications' dead letters. */
export function deadLetterStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, kind, delivery_id, broadcast_id, transaction_id, subscriber_id, channel, failure_phase, failure_code,
    failure_detail, attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at, status,
    redrive_count, max_redrives, redriven_by, redrive_reason`;
  return {
    /** Keeps that a broadcast could not go on; one that did not for a second time is the same letter. */
    async buryPage(
      { tenantId, transactionId, manifest }: Broadcast,
      id: string,
      { phase, code, detail }: DeliveryFailure,
      attempts: number,
      now: Date,
    ): Promise<void> {
      await sql`
        with again as (
          update notification_dead_letters set status = 'open', attempts = attempts + ${attempts}, last_failed_at = ${now}
          where tenant_id = ${tenantId} and broadcast_id = ${transactionId} and kind = 'fanout_page'
          returning id
        )
        insert into notification_dead_letters (tenant_id, id, kind, broadcast_id, transaction_id, failure_phase,
          failure_code, failure_detail, attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at,
          status)
        select ${tenantId}, ${id}, 'fanout_page', ${transactionId}, ${transactionId}, ${phase}, ${code}, ${detail},
          ${attempts}, ${now}, ${now}, decode(${manifest.payloadDigest}, 'hex'), coalesce((
            select expires_at from notification_payloads
            where tenant_id = ${tenantId} and transaction_id = ${transactionId}), ${now}), 'open'
        where not exists (select from again)`;
    },

    async lock(tenantId: TenantId, id: string): Promise<DeadLetter | undefined> {
      const [row] = await sql<DeadLetter[]>`
        select ${columns} from notification_dead_letters where tenant_id = ${tenantId} and id = ${id} for update`;
      return row;
    },

    async redriving(tenantId: TenantId, id: string, by: string, reason: string): Promise<DeadLetter> {
      const [row] = await sql<DeadLetter[]>`
        update notification_dead_letters set status = 'redriving', redrive_count = redrive_count + 1,
          redriven_by = ${by}, redrive_reason = ${reason}
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    /** Ends the letter of a page whose broadcast goes on. */
    async redriven(tenantId: TenantId, id: string): Promise<DeadLetter> {
      const [row] = await sql<DeadLetter[]>`
        update notification_dead_letters set status = 'redriven' where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    /**
     * Puts a failed delivery into the queue again; false when it is not there any more. It gets another idempotency key,
     * unless a provider may have taken it under the one that it has.
     */
    async requeue(tenantId: TenantId, deliveryId: string): Promise<boolean> {
      const queued = await sql`
        update notification_deliveries set status = 'queued', lane = 'single', next_attempt_at = now(),
          execution_attempt = 0, completed_at = null, reconciliation_required = false,
          key_generation = key_generation
            + case when reconciliation_required or observation_state = 'unknown' then 0 else 1 end
        where tenant_id = ${tenantId} and id = ${deliveryId} and status = 'failed'`;
      return queued.count === 1;
    },

    async list(tenantId: TenantId, { status, channel }: DeadLetterFilter, page: Page): Promise<PageRows<DeadLetter>> {
      const where = sql`tenant_id = ${tenantId} ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      const filter = channel === undefined ? undefined : sql`channel = ${channel}`;
      const table = "notification_dead_letters";
      return readKeyset<DeadLetter>(sql, { columns, table, where, filter, newestFirst: true }, page);
    },

    /** Marks letters whose payload is gone; answers how many. */
    async expire(now: Date, limit: number): Promise<number> {
      const expired = await sql`
        update notification_dead_letters set status = 'expired' where ctid = any(array(
          select ctid from notification_dead_letters
          where status = 'open' and payload_expires_at <= ${now} limit ${limit} for update skip locked))`;
      return expired.count;
    },

    /** Forgets letters that failed last before a moment, a bite at a time; answers how many. */
    async forget(before: Date, limit: number): Promise<number> {
      const gone = await sql`
        delete from notification_dead_letters where ctid = any(array(
          select ctid from notification_dead_letters
          where last_failed_at < ${before} and status <> 'redriving' order by last_failed_at limit ${limit}))`;
      return gone.count;
    },
  };
}
