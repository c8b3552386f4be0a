import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { StreamKey } from "../domain/stream.ts";

/** Result of removing records. */
export interface Removal {
  readonly count: number;
  /** The large objects that removed records referred to. */
  readonly objectKeys: readonly string[];
}

/** The streams with records that are too old, and without a legal hold. */
export async function findExpiredStreams(sql: Sql, now: Date, limit: number): Promise<StreamKey[]> {
  return sql<StreamKey[]>`
    select tenant_id, run_id, stream_id from workflow_stream_heads
    where prune_at <= ${now} and hold is null order by prune_at limit ${limit}`;
}

/**
 * Removes the oldest records of a stream in the caller's transaction, at most `limit`. The head is locked first: a hold that was
 * set before is respected, and one that is set meanwhile waits.
 */
export async function removeExpiredRecords(tx: Sql, key: StreamKey, now: Date, limit: number): Promise<Removal> {
  const { tenantId, runId, streamId } = key;
  const isStream = tx`tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId}`;
  const [head] = await tx<{ maxAgeS: number }[]>`
    select (s.pins #>> '{retention,max_age_s}')::float8 as max_age_s
    from workflow_stream_heads h join workflow_streams s
      on s.tenant_id = h.tenant_id and s.run_id = h.run_id and s.id = h.stream_id
    where h.tenant_id = ${tenantId} and h.run_id = ${runId} and h.stream_id = ${streamId} and h.hold is null
      and h.prune_at <= ${now}
    for update of h skip locked`;
  if (head === undefined) return { count: 0, objectKeys: [] };
  const cutoff = new Date(now.getTime() - head.maxAgeS * 1000);
  const removed = await tx<{ objectKey: string | null }[]>`
    with oldest as (
      select sequence, appended_at from workflow_stream_records where ${isStream} order by sequence limit ${limit}
    ), kept as (select min(sequence) as sequence from oldest where appended_at > ${cutoff})
    delete from workflow_stream_records
    where ${isStream} and sequence <= (select max(sequence) from oldest)
      and sequence < coalesce((select sequence from kept), 9223372036854775807)
    returning object ->> 'object_key' as object_key`;
  await tx`
    update workflow_stream_heads h
    set first_sequence = coalesce(r.sequence, h.last_sequence + 1),
      first_cum_bytes = coalesce(r.cum_bytes - r.bytes, h.last_cum_bytes),
      prune_at = r.appended_at + make_interval(secs => ${head.maxAgeS})
    from (select 1) as one left join lateral (
      select sequence, cum_bytes, bytes, appended_at from workflow_stream_records where ${isStream}
      order by sequence limit 1
    ) r on true
    where h.tenant_id = ${tenantId} and h.run_id = ${runId} and h.stream_id = ${streamId}`;
  return { count: removed.length, objectKeys: removed.flatMap(({ objectKey }) => objectKey ?? []) };
}

/** Deletes streams without records whose run does not exist any more; returns how many. */
export async function deleteOrphanedStreams(
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ readonly scanned: number; readonly last: string }> {
  const rows = await sql<{ tenantId: TenantId; runId: string; streamId: string; last: string }[]>`
    with empty as (
      select tenant_id, run_id, stream_id from workflow_stream_heads
      where prune_at is null and hold is null and tenant_id || run_id || stream_id > ${after}
      order by tenant_id || run_id || stream_id limit ${limit}
    ), orphaned as (
      select * from empty e where not exists (
        select from all_workflow_runs r where r.tenant_id = e.tenant_id and r.id = e.run_id)
    ), heads as (
      delete from workflow_stream_heads h using orphaned o
      where h.tenant_id = o.tenant_id and h.run_id = o.run_id and h.stream_id = o.stream_id
        and h.prune_at is null and h.hold is null
      returning h.tenant_id, h.run_id, h.stream_id
    ), consumers as (
      delete from workflow_stream_consumers c using heads h
      where c.tenant_id = h.tenant_id and c.run_id = h.run_id and c.stream_id = h.stream_id
    ), streams as (
      delete from workflow_streams s using heads h
      where s.tenant_id = h.tenant_id and s.run_id = h.run_id and s.id = h.stream_id
    )
    select tenant_id, run_id, stream_id, tenant_id || run_id || stream_id as last from empty order by last`;
  return { scanned: rows.length, last: rows.at(-1)?.last ?? "" };
}
