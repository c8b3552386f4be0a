import type { Sql } from "../../../../platform/db/index.ts";
import type { StreamKey } from "../domain/stream.ts";

/** A consumer that was removed because it does not acknowledge any more. */
export interface ExpiredConsumer extends StreamKey {
  readonly consumerId: string;
  readonly name: string;
  readonly environmentId: string;
}

/**
 * Checks consumers whose check is due, at most `limit`; returns how many, and those that it removed. A consumer is removed if
 * the record after its position is older than the pinned time, and so is its last acknowledgement. Others are checked again
 * when they could be removed at the earliest.
 */
export async function checkConsumers(
  tx: Sql,
  now: Date,
  limit: number,
): Promise<{ readonly checked: number; readonly expired: readonly ExpiredConsumer[] }> {
  const rows = await tx<(ExpiredConsumer & { readonly isExpired: boolean })[]>`
    with due as materialized (
      select tenant_id, run_id, stream_id, consumer_id, sequence from workflow_stream_consumers
      where check_at <= ${now} order by check_at limit ${limit} for update skip locked
    ), checked as materialized (
      select due.*, s.name, s.environment_id, coalesce(next.appended_at, ${now}::timestamptz)
          + make_interval(secs => (s.pins ->> 'consumer_idle_max_s')::float8) as check_at,
        coalesce(next.appended_at <= ${now}::timestamptz
          - make_interval(secs => (s.pins ->> 'consumer_idle_max_s')::float8), false) as is_expired
      from due
        join workflow_streams s on s.tenant_id = due.tenant_id and s.run_id = due.run_id and s.id = due.stream_id
        left join lateral (
          select r.appended_at from workflow_stream_records r
          where r.tenant_id = due.tenant_id and r.run_id = due.run_id and r.stream_id = due.stream_id
            and r.sequence > due.sequence
          order by r.sequence limit 1
        ) next on true
    ), removed as (
      delete from workflow_stream_consumers c using checked
      where is_expired and (c.tenant_id, c.run_id, c.stream_id, c.consumer_id)
        = (checked.tenant_id, checked.run_id, checked.stream_id, checked.consumer_id)
    ), postponed as (
      update workflow_stream_consumers c set check_at = checked.check_at from checked
      where not is_expired and (c.tenant_id, c.run_id, c.stream_id, c.consumer_id)
        = (checked.tenant_id, checked.run_id, checked.stream_id, checked.consumer_id)
    )
    select tenant_id, run_id, stream_id, consumer_id, name, environment_id, is_expired from checked`;
  return { checked: rows.length, expired: rows.filter(({ isExpired }) => isExpired) };
}
