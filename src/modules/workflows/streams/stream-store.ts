import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { AckedPosition, Hold, StreamDefinition, StreamHead, StreamKey, StreamRecord } from "./domain/stream.ts";

/** How far a stream and its consumers are. */
export interface StreamState extends StreamHead, AckedPosition {
  readonly consumers: number;
  readonly slowestConsumer: ConsumerPosition | null;
}

export interface ConsumerPosition {
  readonly consumerId: string;
  readonly sequence: number;
  readonly cumBytes: number;
  /** When it has acknowledged last. */
  readonly updatedAt: Date;
}

/** The run that a stream belongs to. */
export interface StreamRun {
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly ended: boolean;
}

export function streamStore(sql: Sql) {
  const isStream = ({ tenantId, runId, streamId }: StreamKey) =>
    sql`tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId}`;

  return {
    findRun: (tenantId: TenantId, runId: string) =>
      sql<StreamRun[]>`
        select environment_id, origin ->> 'environment' as environment_key, ended_at is not null as ended
        from all_workflow_runs where tenant_id = ${tenantId} and id = ${runId}`.first(),

    /** Inserts a stream; returns false if the run has a stream with this name. */
    async insert(definition: StreamDefinition): Promise<boolean> {
      const { tenantId, runId, streamId, name, environmentId, environmentKey, pins, digest, redactionKey } = definition;
      const rows = await sql`
        with created as (
          insert into workflow_streams (tenant_id, run_id, id, name, environment_id, environment_key, pins, digest,
            redaction_key, created_by, created_at)
          values (${tenantId}, ${runId}, ${streamId}, ${name}, ${environmentId}, ${environmentKey},
            ${JSON.stringify(pins)}::text::json, ${digest}, ${redactionKey}, ${definition.createdBy},
            ${definition.createdAt})
          on conflict do nothing
          returning tenant_id, run_id, id
        )
        insert into workflow_stream_heads (tenant_id, run_id, stream_id, first_sequence, last_sequence, first_cum_bytes,
          last_cum_bytes)
        select tenant_id, run_id, id, 1, 0, 0, 0 from created
        returning 1`;
      return rows.length === 1;
    },

    find: (tenantId: TenantId, runId: string, idOrName: string) =>
      sql<StreamDefinition[]>`
        select tenant_id, run_id, id as stream_id, name, environment_id, environment_key, pins, digest, redaction_key,
          created_by, created_at
        from workflow_streams where tenant_id = ${tenantId} and run_id = ${runId} and (id = ${idOrName} or name = ${idOrName})`.first(),

    async countOfRun(tenantId: TenantId, runId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from workflow_streams where tenant_id = ${tenantId} and run_id = ${runId}`;
      return row!.count;
    },

    async readState(key: StreamKey): Promise<StreamState | undefined> {
      const [row] = await sql<
        (StreamHead & AckedPosition & { consumers: number; consumerId: string | null; updatedAt: Date | null })[]
      >`
        select h.first_sequence, h.last_sequence, h.first_cum_bytes, h.last_cum_bytes, h.hold, h.closed_at,
          coalesce(c.sequence, 0) as acked_sequence, coalesce(c.cum_bytes, 0) as acked_cum_bytes,
          coalesce(c.consumers, 0) as consumers, c.consumer_id, c.updated_at
        from (select * from workflow_stream_heads where ${isStream(key)}) h
        left join (
          select *, count(*) over ()::int as consumers from workflow_stream_consumers where ${isStream(key)}
          order by sequence, consumer_id limit 1
        ) c on true`;
      if (row === undefined) return undefined;
      const { consumerId, updatedAt, ...state } = row;
      const { ackedSequence: sequence, ackedCumBytes: cumBytes } = row;
      const slowestConsumer =
        consumerId === null ? null : { consumerId, sequence, cumBytes, updatedAt: updatedAt as Date };
      return { ...state, slowestConsumer };
    },

    /**
     * The records after a sequence together with the head, as of one moment. Without records there is one row without a
     * sequence.
     */
    async readAfter(
      key: StreamKey,
      after: number,
      limit: number,
      bytesMax: number,
    ): Promise<{ head: StreamHead; records: StreamRecord[] } | undefined> {
      const rows = await sql<(StreamHead & { [K in keyof StreamRecord]: StreamRecord[K] | null })[]>`
        select h.first_sequence, h.last_sequence, h.first_cum_bytes, h.last_cum_bytes, h.hold, h.closed_at,
          r.sequence, r.direction, r.content_class, r.schema_ref, r.payload::text as payload_json, r.object, r.bytes,
          r.appended_at
        from (select * from workflow_stream_heads where ${isStream(key)}) h
        left join lateral (
          select * from (
            select *, coalesce(sum(case when object is null then bytes else 0 end) over (
              order by sequence rows between unbounded preceding and 1 preceding), 0) as bytes_before
            from (
              select * from workflow_stream_records where ${isStream(key)} and sequence > ${after}
              order by sequence limit ${limit}
            ) page
          ) sized
          where bytes_before < ${bytesMax}
        ) r on true
        order by r.sequence`;
      const [head] = rows;
      if (head === undefined) return undefined;
      return { head, records: rows.filter(({ sequence }) => sequence !== null) as unknown as StreamRecord[] };
    },

    /**
     * Advances a consumer; returns its position before and after, and the head. Undefined if the stream does not exist. A
     * position that would go back or beyond the head stays as it was.
     */
    async acknowledge(
      key: StreamKey,
      consumerId: string,
      sequence: number,
      nowMs: number,
      checkAt: Date | null,
    ): Promise<{ head: StreamHead; consumer: ConsumerPosition | null; previous: number | null } | undefined> {
      const { tenantId, runId, streamId } = key;
      const [row] = await sql<
        (StreamHead & { acked: number | null; cumBytes: number | null; previous: number | null })[]
      >`
        with head as (select * from workflow_stream_heads where ${isStream(key)}),
        previous as (
          select sequence from workflow_stream_consumers where ${isStream(key)} and consumer_id = ${consumerId}
        ), acked as (
          insert into workflow_stream_consumers as c (tenant_id, run_id, stream_id, consumer_id, sequence, cum_bytes,
            updated_at, check_at)
          select ${tenantId}, ${runId}, ${streamId}, ${consumerId}, ${sequence}, coalesce(
              (select r.cum_bytes from workflow_stream_records r
                where r.tenant_id = ${tenantId} and r.run_id = ${runId} and r.stream_id = ${streamId}
                  and r.sequence = ${sequence}),
              -- Retention removed the record, or there is none yet: nothing before the earliest record is unread.
              head.first_cum_bytes),
            ${new Date(nowMs)}, ${checkAt}
          from head where ${sequence}::bigint <= head.last_sequence
          on conflict (tenant_id, run_id, stream_id, consumer_id) do update
          set sequence = excluded.sequence, cum_bytes = greatest(c.cum_bytes, excluded.cum_bytes),
            updated_at = excluded.updated_at, check_at = excluded.check_at
          where c.sequence <= excluded.sequence
          returning sequence, cum_bytes
        )
        select head.first_sequence, head.last_sequence, head.first_cum_bytes, head.last_cum_bytes, head.hold,
          head.closed_at, acked.sequence as acked, acked.cum_bytes, previous.sequence as previous
        from head left join acked on true left join previous on true`;
      if (row === undefined) return undefined;
      const { acked, cumBytes, previous, ...head } = row;
      const consumer =
        acked === null ? null : { consumerId, sequence: acked, cumBytes: cumBytes!, updatedAt: new Date(nowMs) };
      return { head, previous, consumer };
    },

    /** Removes a consumer; returns whether there was one. */
    async removeConsumer(key: StreamKey, consumerId: string): Promise<boolean> {
      const rows = await sql`
        delete from workflow_stream_consumers where ${isStream(key)} and consumer_id = ${consumerId} returning 1`;
      return rows.length === 1;
    },

    async countConsumers(key: StreamKey, except: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from workflow_stream_consumers where ${isStream(key)} and consumer_id <> ${except}`;
      return row!.count;
    },

    /** Closes a stream; returns whether it was open. */
    async close(key: StreamKey, nowMs: number): Promise<boolean> {
      const rows = await sql`
        update workflow_stream_heads set closed_at = ${new Date(nowMs)}
        where ${isStream(key)} and closed_at is null returning 1`;
      return rows.length === 1;
    },

    /** Sets or releases the hold. Waits for a removal of records that is in progress. */
    async setHold(key: StreamKey, hold: Hold | null): Promise<void> {
      await sql`
        update workflow_stream_heads set hold = ${hold === null ? null : JSON.stringify(hold)}::text::json
        where ${isStream(key)}`;
    },
  };
}
