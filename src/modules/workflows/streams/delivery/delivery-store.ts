import { hasKey, type NextDue, type Sql } from "../../../../platform/db/index.ts";
import type { StreamKey, StreamRecord } from "../domain/stream.ts";

/** An input record that its run has not received yet. */
export interface OpenDelivery {
  readonly sequence: number;
  /** Undefined if retention removed the record. */
  readonly record: Pick<StreamRecord, "contentClass" | "schemaRef" | "payloadJson" | "object"> | undefined;
}

/** When the next delivery is due. */
export const nextDelivery: NextDue = (sql) => sql`select min(due_at) from workflow_stream_deliveries`;

export function deliveryStore(sql: Sql) {
  const isStream = ({ tenantId, runId, streamId }: StreamKey) =>
    sql`tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId}`;
  return {
    /** The deliveries of a stream, in order. */
    async listOpen(key: StreamKey, limit: number): Promise<OpenDelivery[]> {
      const rows = await sql<
        ({ sequence: number; contentClass: string | null } & NonNullable<OpenDelivery["record"]>)[]
      >`
        select d.sequence, r.content_class, r.schema_ref, r.payload::text as payload_json, r.object
        from (select * from workflow_stream_deliveries where ${isStream(key)} order by sequence limit ${limit}) d
        left join workflow_stream_records r on r.tenant_id = d.tenant_id and r.run_id = d.run_id
          and r.stream_id = d.stream_id and r.sequence = d.sequence
        order by d.sequence`;
      return rows.map(({ sequence, ...record }) => ({
        sequence,
        record: record.contentClass === null ? undefined : record,
      }));
    },

    async delete(key: StreamKey, sequence: number): Promise<void> {
      await sql`delete from workflow_stream_deliveries where ${isStream(key)} and sequence = ${sequence}`;
    },

    /** Deletes the deliveries of a run that has ended. */
    async deleteAll(key: StreamKey): Promise<void> {
      await sql`delete from workflow_stream_deliveries where ${isStream(key)}`;
    },

    /** The streams whose deliveries are overdue. They are due again later, so that other nodes leave them alone. */
    async claimDue(limit: number, againMs: number): Promise<StreamKey[]> {
      return sql<StreamKey[]>`
        with due as (
          select tenant_id, run_id, stream_id, sequence from workflow_stream_deliveries
          where due_at <= now() order by due_at limit ${limit} for update skip locked
        ), claimed as (
          update workflow_stream_deliveries d set due_at = now() + make_interval(secs => ${againMs}::float8 / 1000)
          from due where ${hasKey(sql, "d", "due", ["tenant_id", "run_id", "stream_id", "sequence"])}
          returning d.tenant_id, d.run_id, d.stream_id
        )
        select distinct tenant_id, run_id, stream_id from claimed`;
    },
  };
}
