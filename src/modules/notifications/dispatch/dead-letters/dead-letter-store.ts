import type { TenantId } from "../../../../platform/access/index.ts";
import { type Backlog, type Fragment, joinSelected, type Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { DeadLetter, DeadLetterStatus } from "../domain/dead-letter.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";

/** Filter of a dead-letter list; an undefined field matches everything. */
export interface DeadLetterFilter {
  readonly status: DeadLetterStatus | undefined;
  readonly channel: string | undefined;
}

/** Letters that nobody has redriven or discarded. */
export const openLetters: Backlog = {
  name: "notification_dead_letters",
  rows: (sql) => sql`select last_failed_at, id from notification_dead_letters where status = 'open'`,
};

/** Selects dead letters; an empty field matches all. */
export interface RedriveFilter
  extends Pick<DeadLetter, "channel" | "failurePhase" | "failureCode" | "subscriberId" | "transactionId"> {
  readonly failedAfter: Date | undefined;
  readonly failedBefore: Date | undefined;
}

/** The number of open dead letters that match a filter. */
export interface RedriveCount {
  /** Those that can be redriven. */
  readonly matched: number;
  readonly matchedCapped: boolean;
  /** Those whose payload has expired, or that have reached their limit of redrives. */
  readonly refused: number;
}

/** Who redrives dead letters, when and why. */
interface Redrive {
  readonly now: Date;
  readonly by: string;
  readonly reason: string;
}

const countedMax = 10_000;

export function deadLetterStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, kind, delivery_id, broadcast_id, transaction_id, subscriber_id, channel, failure_phase, failure_code,
    failure_detail, attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at, status,
    redrive_count, max_redrives, redriven_by, redrive_reason`;
  function matching(tenantId: TenantId, filter: RedriveFilter): Fragment {
    const { channel, failurePhase, failureCode, subscriberId, transactionId, failedAfter, failedBefore } = filter;
    return sql`tenant_id = ${tenantId} and status = 'open'
      ${channel === "" ? sql`` : sql`and channel = ${channel}`}
      ${failurePhase === "" ? sql`` : sql`and failure_phase = ${failurePhase}`}
      ${failureCode === "" ? sql`` : sql`and failure_code = ${failureCode}`}
      ${subscriberId === "" ? sql`` : sql`and subscriber_id = ${subscriberId}`}
      ${transactionId === "" ? sql`` : sql`and transaction_id = ${transactionId}`}
      ${failedAfter === undefined ? sql`` : sql`and last_failed_at >= ${failedAfter}`}
      ${failedBefore === undefined ? sql`` : sql`and last_failed_at < ${failedBefore}`}`;
  }
  const redrivable = (now: Date) => sql`payload_expires_at > ${now} and redrive_count < max_redrives`;

  /**
   * Redrives selected dead letters: their deliveries are queued again and their broadcasts continue at the page that failed. A delivery
   * gets a new idempotency key, unless a provider may have accepted it under the current one.
   */
  async function redrive(tenantId: TenantId, selected: Fragment, limit: number, { now, by, reason }: Redrive) {
    return sql<DeadLetter[]>`
      with letter as materialized (
        select id, kind, delivery_id, broadcast_id, transaction_id from notification_dead_letters
        where ${selected}
        order by id limit ${limit} for update skip locked
      ), queued as (
        update notification_deliveries as delivery set status = 'queued', lane = 'single', next_attempt_at = now(),
          execution_attempt = 0, completed_at = null, reconciliation_required = false,
          key_generation = key_generation
            + case when reconciliation_required or observation_state = 'unknown' then 0 else 1 end
        from letter
        where letter.kind = 'delivery' and delivery.tenant_id = ${tenantId} and delivery.id = letter.delivery_id
          and delivery.status = 'failed'
        returning letter.id
      ), reopened as (
        update notification_broadcasts as broadcast set status = 'expanding', failure_code = '', failures = 0,
          next_page_at = now(), updated_at = ${now}
        from letter
        where letter.kind = 'fanout_page' and broadcast.tenant_id = ${tenantId}
          and broadcast.transaction_id = letter.broadcast_id and broadcast.status = 'failed'
        returning letter.id
      )
      update notification_dead_letters as updated set
        status = case when updated.kind = 'delivery' then 'redriving' else 'redriven' end,
        redrive_count = redrive_count + 1, redriven_by = ${by}, redrive_reason = ${reason}
      where tenant_id = ${tenantId} and id in (select id from queued union all select id from reopened)
      returning ${columns}`;
  }

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

    lock: (tenantId: TenantId, id: string) =>
      sql<DeadLetter[]>`
        select ${columns} from notification_dead_letters where tenant_id = ${tenantId} and id = ${id} for update`.first(),

    async count(tenantId: TenantId, filter: RedriveFilter, now: Date): Promise<RedriveCount> {
      const [row] = await sql<{ matched: number; refused: number }[]>`
        select count(*) filter (where redrivable)::int as matched, count(*) filter (where not redrivable)::int as refused
        from (
          select ${redrivable(now)} as redrivable from notification_dead_letters
          where ${matching(tenantId, filter)} order by id limit ${countedMax + 1}) as counted`;
      const { matched, refused } = row!;
      return {
        matched: Math.min(matched, countedMax),
        matchedCapped: matched + refused > countedMax,
        refused: Math.min(refused, countedMax),
      };
    },

    /** Redrives one dead letter; undefined when its delivery or broadcast has been deleted or has not failed. */
    async redrive(tenantId: TenantId, id: string, change: Redrive): Promise<DeadLetter | undefined> {
      const [row] = await redrive(tenantId, sql`tenant_id = ${tenantId} and id = ${id}`, 1, change);
      return row;
    },

    /**
     * Redrives up to `limit` dead letters, oldest first. Dead letters that another call redrives are skipped, and so are those
     * whose delivery or broadcast has been deleted.
     */
    async redriveMatching(tenantId: TenantId, filter: RedriveFilter, limit: number, change: Redrive) {
      return redrive(tenantId, sql`${matching(tenantId, filter)} and ${redrivable(change.now)}`, limit, change);
    },

    async list(tenantId: TenantId, { status, channel }: DeadLetterFilter, page: Page): Promise<PageRows<DeadLetter>> {
      const where = sql`tenant_id = ${tenantId} ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      const filter = channel === undefined ? undefined : sql`channel = ${channel}`;
      const table = "notification_dead_letters";
      return readKeyset<DeadLetter>(sql, { columns, table, where, filter, newestFirst: true }, page);
    },

    /** Marks up to `limit` dead letters whose payload has expired; returns the number marked. */
    async expire(now: Date, limit: number): Promise<number> {
      const expired = sql`
        from notification_dead_letters
        where status = 'open' and payload_expires_at <= ${now} limit ${limit} for update skip locked`;
      const joined = joinSelected(sql, "notification_dead_letters", expired);
      return (await sql`update notification_dead_letters set status = 'expired' from ${joined}`).count;
    },
  };
}
