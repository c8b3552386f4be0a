// The physical limit: the same rows in shared statements through our driver, without heads, ceilings, checks or a protocol.
import { createBatcher, lines, openDatabase } from "../../../src/platform/db/index.ts";

const tenantId = "01J0000000000000000000000T";
const runId = "01J0000000000000000000000R";
const pageMax = 1_000;

export async function open({ databaseUrl }) {
  const db = openDatabase(databaseUrl, { maxConnections: 4 });
  await db.sql`
    create table if not exists records (
      tenant_id text collate "C" not null, run_id text collate "C" not null, stream_id text collate "C" not null,
      sequence bigint not null, direction text not null, content_class text not null, schema_ref text not null,
      payload json, object json, bytes bigint not null, cum_bytes bigint not null, appended_at timestamptz not null,
      primary key (tenant_id, run_id, stream_id, sequence)
    )`;
  const batcher = createBatcher({
    ...{ lanes: 2, batchMax: 1_000, concurrentMin: 100 },
    async flush(rows) {
      await insertMany(db.sql, rows);
      return rows;
    },
  });
  const run = Date.now().toString(36);
  let created = 0;
  const newStream = () => {
    const streamId = `${run}-${created++}`.padStart(26, "0");
    let sequence = 0;
    return {
      async appendMany(_, records) {
        await insertMany(
          db.sql,
          records.map((record) => ({ streamId, sequence: ++sequence, payload: JSON.stringify(record) })),
        );
      },
      append: (_, record) => batcher.run({ streamId, sequence: ++sequence, payload: JSON.stringify(record) }),
      replays: {
        "pages of 1,000": async (onText, count) => {
          for (let cursor = 0; cursor < count; cursor += pageMax) {
            const rows = await db.sql`
              select sequence, direction, content_class, schema_ref, payload::text as payload, bytes, appended_at
              from records where tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId}
                and sequence > ${cursor}
              order by sequence limit ${pageMax}`;
            for (const { payload } of rows) onText(payload);
          }
        },
      },
    };
  };
  return {
    createStreams: async (count) => Array.from({ length: count }, newStream),
    async close() {
      await batcher.idle();
      await db.close();
    },
  };
}

function insertMany(sql, rows) {
  return sql`
    insert into records
    select ${tenantId}, ${runId}, stream_id, sequence::bigint, 'output', 'data', '', payload::json, null,
      octet_length(payload), octet_length(payload), now()
    from rows from (
      string_to_table(${lines(rows, ({ streamId }) => streamId)}, E'\\n', ''),
      string_to_table(${lines(rows, ({ sequence }) => sequence)}, E'\\n', ''),
      string_to_table(${lines(rows, ({ payload }) => payload)}, E'\\n', '')
    ) as given (stream_id, sequence, payload)`;
}
