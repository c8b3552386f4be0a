import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { DeadLetter } from "../domain/dead-letter.ts";

/** Selects dead letters; an empty field matches all. */
export interface RedriveFilter {
  readonly channel: string;
  readonly failurePhase: string;
  readonly failureCode: string;
  readonly subscriberId: string;
  readonly transactionId: string;
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

type Redriven = Pick<DeadLetter, "id" | "kind" | "transactionId" | "deliveryId">;

const countedMax = 10_000;

/** SQL queries that redrive many dead letters with a fixed number of statements. */
export function redriveStore(sql: Sql) {
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

  return {
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

    /**
     * Redrives up to `limit` dead letters, oldest first. Their deliveries are queued again and their broadcasts continue, as
     * for a single one. Dead letters that another call redrives are skipped, and so are those whose delivery or broadcast
     * has been deleted.
     */
    async redrive(
      tenantId: TenantId,
      filter: RedriveFilter,
      now: Date,
      limit: number,
      by: string,
      reason: string,
    ): Promise<Redriven[]> {
      return sql<Redriven[]>`
        with letter as materialized (
          select id, kind, delivery_id, broadcast_id, transaction_id from notification_dead_letters
          where ${matching(tenantId, filter)} and ${redrivable(now)}
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
        returning id, kind, transaction_id, delivery_id`;
    },
  };
}
