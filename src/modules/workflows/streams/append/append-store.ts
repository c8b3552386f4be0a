import { lines, type Sql } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import type { Ceilings } from "../domain/pins.ts";
import type { AckedPosition, NewRecord, StreamHead, StreamKey } from "../domain/stream.ts";

/** A record to append, with what the stream's pins allow. */
export interface Append {
  readonly key: StreamKey;
  readonly record: NewRecord;
  readonly ceilings: Ceilings;
  readonly maxAgeS: number;
  readonly appendedAtMs: number;
  /** The idempotency record of the call. */
  readonly idempotency: SequenceRecord | undefined;
}

/** An idempotency record whose response contains the sequence, which only the statement knows. */
export interface SequenceRecord extends Omit<IdempotencyRecord, "response"> {
  readonly beforeSequence: string;
  readonly afterSequence: string;
}

/** What the statement says about an append. */
export interface AppendRow extends Omit<StreamHead, "hold">, AckedPosition {
  readonly nth: number;
  /** Null if it was not appended. */
  readonly sequence: number | null;
}

/** The rows of a batch, and the positions of those whose idempotency key was used before. */
export interface AppendedBatch {
  /** By position. A stream that does not exist has no rows. The heads are as they were before the batch. */
  readonly rows: ReadonlyMap<number, AppendRow>;
  readonly duplicates: ReadonlySet<number>;
}

interface StreamInput {
  readonly key: StreamKey;
  readonly ceilings: Ceilings;
  readonly maxAgeS: number;
}

/**
 * Appends records to any number of streams in one statement. Of every stream, the longest prefix of its records that fits is
 * appended. The heads are locked in the order of their keys, and stay locked until the commit.
 */
export async function appendBatch(sql: Sql, appends: readonly Append[]): Promise<AppendedBatch> {
  const streams = streamsOf(appends);
  const positions = new Map(streams.map(({ key: { streamId } }, at) => [streamId, at]));
  const keyed = appends.flatMap(({ idempotency }, nth) => (idempotency === undefined ? [] : [{ nth, ...idempotency }]));
  const isKeyed = keyed.length > 0;
  const hasInputs = appends.some(({ record }) => record.direction === "input");
  const ofStream = (value: (stream: StreamInput) => string | number) => lines(streams, value);
  const ofAppend = (value: (append: Append) => string | number | undefined) => lines(appends, value);
  const ofKey = (value: (key: (typeof keyed)[number]) => string | number) => lines(keyed, value);
  const rows = await sql<(AppendRow & { readonly duplicate: boolean })[]>`
    with streams as materialized (
      select nth::int - 1 as stream, tenant_id, run_id, stream_id, unread_items::bigint as unread_items,
        unread_bytes::bigint as unread_bytes, total_items::bigint as total_items, total_bytes::bigint as total_bytes,
        max_age_s::float8 as max_age_s
      from rows from (
        string_to_table(${ofStream(({ key }) => key.tenantId)}, E'\\n', ''),
        string_to_table(${ofStream(({ key }) => key.runId)}, E'\\n', ''),
        string_to_table(${ofStream(({ key }) => key.streamId)}, E'\\n', ''),
        string_to_table(${ofStream(({ ceilings }) => ceilings.unread_items)}, E'\\n', ''),
        string_to_table(${ofStream(({ ceilings }) => ceilings.unread_bytes)}, E'\\n', ''),
        string_to_table(${ofStream(({ ceilings }) => ceilings.total_items)}, E'\\n', ''),
        string_to_table(${ofStream(({ ceilings }) => ceilings.total_bytes)}, E'\\n', ''),
        string_to_table(${ofStream(({ maxAgeS }) => maxAgeS)}, E'\\n', '')
      ) with ordinality as streams(tenant_id, run_id, stream_id, unread_items, unread_bytes, total_items, total_bytes,
        max_age_s, nth)
    ), input as materialized (
      select nth::int - 1 as nth, stream::int as stream, direction, content_class, schema_ref, payload, object,
        bytes::bigint as bytes, to_timestamp(appended_at_ms::float8 / 1000) as appended_at
      from rows from (
        string_to_table(${ofAppend(({ key }) => positions.get(key.streamId))}, E'\\n', ''),
        string_to_table(${ofAppend(({ record }) => record.direction)}, E'\\n', ''),
        string_to_table(${ofAppend(({ record }) => record.contentClass)}, E'\\n', ''),
        unnest(${appends.map(({ record }) => record.schemaRef)}::text[]),
        string_to_table(${ofAppend(({ record }) => record.payloadJson)}, E'\\n', ''),
        string_to_table(${ofAppend(({ record }) => record.object && JSON.stringify(record.object))}, E'\\n', ''),
        string_to_table(${ofAppend(({ record }) => record.bytes)}, E'\\n', ''),
        string_to_table(${ofAppend(({ appendedAtMs }) => appendedAtMs)}, E'\\n', '')
      ) with ordinality as input(stream, direction, content_class, schema_ref, payload, object, bytes, appended_at_ms,
        nth)
    )
    ${
      isKeyed
        ? sql`, keyed as materialized (
            select nth::int as nth, tenant_id, principal, operation, key, fingerprint, before_sequence, after_sequence,
              to_timestamp(created_at_ms::float8 / 1000) as created_at
            from rows from (
              string_to_table(${ofKey(({ nth }) => nth)}, E'\\n', ''),
              string_to_table(${ofKey(({ tenantId }) => tenantId)}, E'\\n', ''),
              unnest(${keyed.map(({ principal }) => principal)}::text[]),
              string_to_table(${ofKey(({ operation }) => operation)}, E'\\n', ''),
              string_to_table(${ofKey(({ key }) => key)}, E'\\n', ''),
              string_to_table(${ofKey(({ fingerprint }) => fingerprint.toString("hex"))}, E'\\n', ''),
              string_to_table(${ofKey(({ beforeSequence }) => beforeSequence)}, E'\\n', ''),
              string_to_table(${ofKey(({ afterSequence }) => afterSequence)}, E'\\n', ''),
              string_to_table(${ofKey(({ createdAt }) => createdAt.getTime())}, E'\\n', '')
            ) as keyed(nth, tenant_id, principal, operation, key, fingerprint, before_sequence, after_sequence,
              created_at_ms)
          ), used as materialized (
            select k.nth from keyed k where exists (
              select from idempotency_records i where i.tenant_id = k.tenant_id and i.principal = k.principal
                and i.operation = k.operation and i.key = k.key)
          )`
        : sql``
    }
    , locked as materialized (
      -- All statements lock in this order to avoid deadlocks.
      select s.stream, h.first_sequence, h.last_sequence, h.first_cum_bytes, h.last_cum_bytes, h.closed_at
      from streams s join workflow_stream_heads h
        on h.tenant_id = s.tenant_id and h.run_id = s.run_id and h.stream_id = s.stream_id
      order by s.stream for update of h
    ), heads as materialized (
      select l.*, s.tenant_id, s.run_id, s.stream_id, s.unread_items, s.unread_bytes, s.total_items, s.total_bytes,
        s.max_age_s, acked.sequence as acked_sequence, acked.cum_bytes as acked_cum_bytes
      from locked l join streams s on s.stream = l.stream
      cross join lateral (
        select coalesce(min(c.sequence), 0) as sequence, coalesce(min(c.cum_bytes), 0) as cum_bytes
        from workflow_stream_consumers c
        where c.tenant_id = s.tenant_id and c.run_id = s.run_id and c.stream_id = s.stream_id
      ) acked
    ), decided as materialized (
      select i.nth, i.direction, i.content_class, i.schema_ref, i.payload, i.object, i.bytes, i.appended_at, h.*,
        h.last_sequence + row_number() over prefix as sequence,
        h.last_cum_bytes + (sum(i.bytes) over prefix)::bigint as cum_bytes
      from input i join heads h on h.stream = i.stream
      ${isKeyed ? sql`where i.nth not in (select nth from used)` : sql``}
      window prefix as (partition by i.stream order by i.nth)
    ), accepted as materialized (
      select * from decided
      where closed_at is null
        and sequence - first_sequence + 1 <= total_items and cum_bytes - first_cum_bytes <= total_bytes
        and sequence - greatest(acked_sequence, first_sequence - 1) <= unread_items
        and cum_bytes - greatest(acked_cum_bytes, first_cum_bytes) <= unread_bytes
    ), records as (
      insert into workflow_stream_records (tenant_id, run_id, stream_id, sequence, direction, content_class, schema_ref,
        payload, object, bytes, cum_bytes, appended_at)
      select tenant_id, run_id, stream_id, sequence, direction, content_class, schema_ref, payload::json, object::json,
        bytes, cum_bytes, appended_at
      from accepted
    ), advanced as (
      update workflow_stream_heads h
      set last_sequence = a.sequence, last_cum_bytes = a.cum_bytes, prune_at = coalesce(h.prune_at, a.prune_at)
      from (
        select tenant_id, run_id, stream_id, max(sequence) as sequence, max(cum_bytes) as cum_bytes,
          min(appended_at) + make_interval(secs => max(max_age_s)) as prune_at
        from accepted group by tenant_id, run_id, stream_id
      ) a
      where h.tenant_id = a.tenant_id and h.run_id = a.run_id and h.stream_id = a.stream_id
    )
    ${
      hasInputs
        ? sql`, deliveries as (
            insert into workflow_stream_deliveries (tenant_id, run_id, stream_id, sequence, due_at)
            select tenant_id, run_id, stream_id, sequence, now() + interval '5 seconds' from accepted
            where direction = 'input'
          )`
        : sql``
    }
    ${
      isKeyed
        ? sql`, recorded as (
            -- A key that another node uses at the same moment is a violation of the primary key: the batch is repeated.
            insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response,
              created_at)
            select k.tenant_id, k.principal, k.operation, k.key, decode(k.fingerprint, 'hex'), 'completed',
              k.before_sequence || a.sequence || k.after_sequence, k.created_at
            from keyed k join accepted a on a.nth = k.nth
          )`
        : sql``
    }
    select d.nth, a.sequence, d.first_sequence, d.last_sequence, d.first_cum_bytes, d.last_cum_bytes, d.closed_at,
      d.acked_sequence, d.acked_cum_bytes, false as duplicate
    from decided d left join accepted a on a.nth = d.nth
    ${isKeyed ? sql`union all select nth, null, 0, 0, 0, 0, null, 0, 0, true from used` : sql``}`;
  return {
    rows: new Map(rows.flatMap((row) => (row.duplicate ? [] : [[row.nth, row]]))),
    duplicates: new Set(rows.flatMap(({ nth, duplicate }) => (duplicate ? [nth] : []))),
  };
}

/** The streams of a batch, in the order in which they are locked. */
function streamsOf(appends: readonly Append[]): readonly StreamInput[] {
  const streams = new Map(appends.map(({ key, ceilings, maxAgeS }) => [key.streamId, { key, ceilings, maxAgeS }]));
  return [...streams.values()].sort((a, b) => (sortKey(a.key) < sortKey(b.key) ? -1 : 1));
}

function sortKey({ tenantId, runId, streamId }: StreamKey): string {
  return tenantId + runId + streamId;
}
