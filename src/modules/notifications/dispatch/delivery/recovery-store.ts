import type { Sql } from "../../../../platform/db/index.ts";
import type { Report } from "./delivery-report.ts";

/** What is recovered at once, and how. */
interface Recovery {
  readonly limit: number;
  /** As many ids as the limit, for the dead letters of what cannot be sent again. */
  readonly letterIds: readonly string[];
  /** The providers that recognise a repeat by its key. */
  readonly deduplicating: readonly string[];
}

/**
 * Takes over the deliveries whose node let its lease run out. What was not handed over to a provider waits again. What
 * was waits again for the same integration, in doubt, if its provider recognises a repeat by its key. Of the rest nobody
 * knows whether it arrived: it has failed, and is never sent again by itself. So has what nodes died with at every
 * attempt.
 */
export async function recoverAbandoned(sql: Sql, { limit, letterIds, deduplicating }: Recovery): Promise<Report[]> {
  return sql<Report[]>`
    with abandoned as (
      select tenant_id, id, lease_until, execution_attempt < max_attempts as has_attempts,
        case when not handed_over or channel = 'in_app' then 'kept'
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
        failure_phase = case when lost.fate = 'kept' then 'system' else 'provider' end,
        failure_code = case when lost.fate = 'kept' then 'lease_lost' else 'outcome_unknown' end,
        failure_detail = case
          when lost.fate = 'kept' then 'The node that was to send it is gone.'
          when lost.next_status = 'queued' then 'The node that sent it is gone: it is sent again under the same key.'
          else 'The node that sent it is gone: whether the provider took it is not known.' end,
        reconciliation_required = reconciliation_required or lost.fate <> 'kept',
        observation_state = case when lost.next_status = 'failed' and (reconciliation_required or lost.fate <> 'kept')
          then 'unknown' else observation_state end,
        dead_letter_id = case when lost.next_status = 'queued' or dead_letter_id <> '' then dead_letter_id
          else (${letterIds as string[]}::text[])[lost.nth] end,
        first_failed_at = coalesce(first_failed_at, now()),
        completed_at = case when lost.next_status = 'failed' then now() end, lease_token = '', lease_until = null
      from lost where delivery.tenant_id = lost.tenant_id and delivery.id = lost.id
      returning delivery.*
    ), buried as (
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
