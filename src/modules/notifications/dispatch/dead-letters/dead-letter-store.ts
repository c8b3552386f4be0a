import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { DeadLetter, DeadLetterStatus } from "../domain/dead-letter.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";

/** Filter of a dead-letter list; an undefined field matches everything. */
export interface DeadLetterFilter {
  readonly status: DeadLetterStatus | undefined;
  readonly channel: string | undefined;
}

/** SQL queries for notification dead letters. */
export function deadLetterStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, kind, delivery_id, broadcast_id, transaction_id, subscriber_id, channel, failure_phase, failure_code,
    failure_detail, attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at, status,
    redrive_count, max_redrives, redriven_by, redrive_reason`;
  return {
    /** Stores the dead letter of a failed broadcast page. A broadcast that fails again reuses its dead letter. */
    async insertForPage(
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

    /** Marks a dead letter as being redriven, by whom and why. */
    async markRedriving(tenantId: TenantId, id: string, by: string, reason: string): Promise<DeadLetter> {
      const [row] = await sql<DeadLetter[]>`
        update notification_dead_letters set status = 'redriving', redrive_count = redrive_count + 1,
          redriven_by = ${by}, redrive_reason = ${reason}
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    /** Marks the dead letter of a page as redriven once its broadcast continues. */
    async markRedriven(tenantId: TenantId, id: string): Promise<DeadLetter> {
      const [row] = await sql<DeadLetter[]>`
        update notification_dead_letters set status = 'redriven' where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    /**
     * Puts a failed delivery back into the queue; false when it no longer exists. The delivery gets a new idempotency key,
     * unless a provider may have accepted it under the current one.
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

    /** Marks up to `limit` dead letters whose payload has expired; returns the number marked. */
    async expire(now: Date, limit: number): Promise<number> {
      const expired = await sql`
        update notification_dead_letters set status = 'expired' where ctid = any(array(
          select ctid from notification_dead_letters
          where status = 'open' and payload_expires_at <= ${now} limit ${limit} for update skip locked))`;
      return expired.count;
    },
  };
}
