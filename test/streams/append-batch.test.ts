import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Append } from "../../src/modules/workflows/streams/append/append-store.ts";
import { appendAll } from "../../src/modules/workflows/streams/append/record-appender.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";

const tenantId = "t".padEnd(26, "0") as TenantId;
const runId = "r".padEnd(26, "0");

let db: Database;

before(async () => {
  const { url, drop } = await freshDatabase();
  db = openDatabase(url, { maxConnections: 2, genericPlanConnections: 1 });
  afterFile(async () => {
    await db.close();
    await drop();
  });
});

const keyOf = (name: string) => ({ tenantId, runId, streamId: name.padEnd(26, "0") });

async function createHead(name: string, { isClosed = false } = {}): Promise<void> {
  const { streamId } = keyOf(name);
  await db.sql`
    insert into workflow_stream_heads (tenant_id, run_id, stream_id, first_sequence, last_sequence, first_cum_bytes,
      last_cum_bytes, closed_at)
    values (${tenantId}, ${runId}, ${streamId}, 1, 0, 0, 0, ${isClosed ? new Date() : null})`;
}

function appendTo(name: string, payload: string, { totalItems = 100, key = "" } = {}): Append {
  const payloadJson = JSON.stringify(payload);
  const ceilings = { unread_items: 100, unread_bytes: 1000, total_items: totalItems, total_bytes: 1000 };
  return {
    key: keyOf(name),
    records: [{ direction: "output", contentClass: "data", schemaRef: "", payloadJson, bytes: payloadJson.length }],
    ...{ ceilings, maxAgeS: 3600, appendedAtMs: 1_000_000 },
    idempotency:
      key === ""
        ? undefined
        : {
            ...{ tenantId, principal: "p", operation: "append", key, fingerprint: Buffer.from("f") },
            ...{ createdAt: new Date(), beforeSequence: "<", afterSequence: ">" },
          },
  };
}

async function payloadsOf(name: string): Promise<string[]> {
  const { streamId } = keyOf(name);
  const rows = await db.sql<{ entry: string }[]>`
    select sequence || ' ' || (payload #>> '{}') || ' ' || cum_bytes as entry from workflow_stream_records
    where tenant_id = ${tenantId} and run_id = ${runId} and stream_id = ${streamId} order by sequence`;
  return rows.map(({ entry }) => entry);
}

test("a batch with absent, closed and full streams and used keys appends the rest, in order", async () => {
  for (const name of ["b", "d", "f"]) await createHead(name);
  await createHead("c", { isClosed: true });
  await appendAll(db.genericPlans.sql, [appendTo("f", "first", { key: "used" })]);

  const outcomes = await appendAll(db.genericPlans.sql, [
    appendTo("f", "repeated", { key: "used" }),
    appendTo("a", "no such stream"),
    appendTo("d", "d1", { totalItems: 2 }),
    appendTo("b", "b1"),
    appendTo("c", "closed"),
    appendTo("d", "d2", { totalItems: 2, key: "new" }),
    appendTo("e", "no such stream", { key: "of no stream" }),
    appendTo("d", "d3", { totalItems: 2, key: "does not fit" }),
    appendTo("f", "second"),
    appendTo("b", "b2"),
    appendTo("g", "no such stream"),
  ]);

  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "appended" ? outcome.sequence : outcome.kind)),
    ["duplicate", "not_found", 1, 1, "closed", 2, "not_found", "total_full", 2, 2, "not_found"],
  );
  assert.deepEqual(await payloadsOf("b"), ["1 b1 4", "2 b2 8"]);
  assert.deepEqual(await payloadsOf("d"), ["1 d1 4", "2 d2 8"]);
  assert.deepEqual(await payloadsOf("f"), ["1 first 7", "2 second 15"]);
  const recorded = await db.sql<{ key: string; response: string }[]>`
    select key, response from idempotency_records order by key`;
  assert.deepEqual(
    recorded.map(({ key, response }) => `${key} ${response}`),
    ["new <2>", "used <1>"],
  );
  const heads = await db.sql<{ lastSequence: number; lastCumBytes: number }[]>`
    select last_sequence, last_cum_bytes from workflow_stream_heads order by stream_id`;
  assert.deepEqual(
    heads.map(({ lastSequence, lastCumBytes }) => [lastSequence, lastCumBytes]),
    [
      [2, 8],
      [0, 0],
      [2, 8],
      [2, 15],
    ],
  );
});

test("the records of a shared statement keep their order and their own columns, whatever characters they contain", async () => {
  for (const name of ["h", "i"]) await createHead(name);
  const odd = 'a\nb\u001fc"d\\e\u001e{}ü';
  const object = { ...{ object_id: "o", object_key: odd, sha256: "s" }, ...{ size_bytes: 7, content_type: "t" } };
  const text = JSON.stringify(odd);
  const inline = { direction: "output" as const, contentClass: "data", schemaRef: "", payloadJson: text, bytes: 20 };
  const records = [
    inline,
    { ...inline, direction: "input" as const, contentClass: "log", schemaRef: odd },
    { ...inline, payloadJson: undefined, object, bytes: 7 },
    { ...inline, payloadJson: "null", bytes: 4 },
  ];
  const own = { ...appendTo("h", ""), records };
  const earlier = { ...appendTo("h", "earlier"), appendedAtMs: 999_000 };

  const outcomes = await appendAll(db.genericPlans.sql, [appendTo("i", odd), earlier, own]);

  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind === "appended" && [outcome.sequence, outcome.count]),
    [
      [1, 1],
      [1, 1],
      [2, 4],
    ],
  );
  assert.deepEqual(await payloadsOf("i"), [`1 ${odd} ${text.length}`]);
  const { streamId } = keyOf("h");
  const rows = await db.sql<Record<string, unknown>[]>`
    select direction, content_class, schema_ref, payload::text as payload, object, bytes, cum_bytes,
      extract(epoch from appended_at)::int as appended_at_s
    from workflow_stream_records where tenant_id = ${tenantId} and stream_id = ${streamId} order by sequence`;
  const columnsOf = (
    direction: string,
    contentClass: string,
    schemaRef: string,
    payload: string | null,
    bytes: number,
    cumBytes: number,
  ) => ({ direction, contentClass, schemaRef, payload, bytes, cumBytes });
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { ...columnsOf("output", "data", "", '"earlier"', 9, 9), object: null, appendedAtS: 999 },
      { ...columnsOf("output", "data", "", text, 20, 29), object: null, appendedAtS: 1000 },
      { ...columnsOf("input", "log", odd, text, 20, 49), object: null, appendedAtS: 1000 },
      { ...columnsOf("output", "data", "", null, 7, 56), object, appendedAtS: 1000 },
      { ...columnsOf("output", "data", "", "null", 4, 60), object: null, appendedAtS: 1000 },
    ],
  );
  const deliveries = await db.sql<{ sequence: number }[]>`
    select sequence from workflow_stream_deliveries where tenant_id = ${tenantId} and stream_id = ${streamId}`;
  assert.deepEqual(
    deliveries.map(({ sequence }) => sequence),
    [3],
  );
});
