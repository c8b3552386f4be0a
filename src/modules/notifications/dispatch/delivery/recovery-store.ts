import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { DeliveryReport } from "./delivery-report.ts";

/** Parameters of one recovery run. */
interface Recovery {
  readonly limit: number;
  /** One id per delivery of the limit, for dead letters of deliveries that cannot be sent again. */
  readonly letterIds: readonly string[];
  /** The providers that deduplicate by idempotency key. */
  readonly deduplicating: readonly string[];
}

/** When the next lease of a delivery expires. */
export function nextAbandoned(sql: Sql): Fragment {
  return sql`select lease_until from notification_deliveries where status = 'running' order by lease_until limit 1`;
}

/**
 * Recovers deliveries whose lease has expired. A delivery that was not handed over to a provider is queued again. One
 * that was handed over is queued for the same integration, with an unknown outcome, if its provider deduplicates by key.
 * Otherwise it fails with an unknown outcome and is never retried automatically. A delivery without attempts left fails.
 */
export async function recoverAbandoned(sql: Sql, { limit, letterIds, deduplicating }: Recovery) {
  return sql<DeliveryReport[]>`
    with abandoned as (
      select tenant_id, id, lease_until, execution_attempt < max_attempts as has_attempts,
        case when not handed_over or channel = 'in_app' then 'unsent'
          when integration_id <> '' and provider_key = any(${deduplicating as string[]}::text[]) then 'repeatable'
          else 'unknown' end as fate
      from notification_deliveries
      where status = 'running' and lease_until < now() order by lease_until limit ${limit} for update skip locked
    ), lost as (
      select tenant_id, id, fate, row_number() over (order by lease_until) as nth,
        case when has_attempts and fate <> 'unknown' then 'queued' else 'failed' end as next_status
      from abandoned
    ), ended as (
      update notification_deliveries delivery set
        status = lost.next_status,
        next_attempt_at = case when lost.next_status = 'queued' then now() end,
        retryable = lost.next_status = 'queued',
        failure_phase = case when lost.fate = 'unsent' then 'system' else 'provider' end,
        failure_code = case when lost.fate = 'unsent' then 'lease_lost' else 'outcome_unknown' end,
        failure_detail = case
          when lost.fate = 'unsent' then 'The node stopped before it sent the message.'
          when lost.next_status = 'queued' then 'The node stopped while it sent the message: it is sent again with the same idempotency key.'
          else 'The node stopped while it sent the message: it is unknown whether the provider accepted it.' end,
        reconciliation_required = reconciliation_required or lost.fate <> 'unsent',
        observation_state = case when lost.next_status = 'failed' and (reconciliation_required or lost.fate <> 'unsent')
          then 'unknown' else observation_state end,
        dead_letter_id = case when lost.next_status = 'queued' or dead_letter_id <> '' then dead_letter_id
          else (${letterIds as string[]}::text[])[lost.nth] end,
        first_failed_at = coalesce(first_failed_at, now()),
        completed_at = case when lost.next_status = 'failed' then now() end, lease_token = '', lease_until = null
      from lost where delivery.tenant_id = lost.tenant_id and delivery.id = lost.id
      returning delivery.*
    ), dead_lettered as (
      insert into notification_dead_letters as letter (tenant_id, id, kind, delivery_id, broadcast_id,
        transaction_id, subscriber_id, channel, failure_phase, failure_code, failure_detail, attempts,
        first_failed_at, last_failed_at, payload_digest, payload_expires_at, status)
      select ended.tenant_id, dead_letter_id, 'delivery', ended.id, broadcast_id, ended.transaction_id,
        subscriber_id, channel, failure_phase, failure_code, failure_detail, execution_attempt, first_failed_at, now(),
        coalesce(payload.digest, ''), coalesce(payload.expires_at, now()), 'open'
      from ended left join notification_payloads payload using (tenant_id, transaction_id)
      where ended.status = 'failed'
      on conflict (tenant_id, id) do update set status = 'open', last_failed_at = excluded.last_failed_at,
        failure_phase = excluded.failure_phase, failure_code = excluded.failure_code,
        failure_detail = excluded.failure_detail, attempts = letter.attempts + excluded.attempts
    )
    select tenant_id, id, subscriber_id, channel, status, failure_phase, failure_code, dead_letter_id from ended`;
}
