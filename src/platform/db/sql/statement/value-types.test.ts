import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";

const db = await testDatabase(2);
const { sql } = db;

/** Sends a value with a type and returns the result. */
async function returned(value: never, type: string): Promise<unknown> {
  const [row] = await sql<{ value: unknown }[]>`select ${value}::${sql.unsafe(type)} as value`;
  return row!.value;
}

const early = new Date("0001-01-01T00:00:00Z");
const moment = new Date("2026-02-03T04:05:06.789Z");
const awkward = ["", "NULL", "null", 'a "quoted" one', "back\\slash", "{brace}", "a,b", " space ", "line\nbreak", "ü"];

const roundTrips: readonly (readonly [type: string, value: unknown, back?: unknown])[] = [
  ["text", "it's"],
  ["text", 7, "7"],
  ["int", 7],
  ["int8", 9_007_199_254_740_991],
  ["int8", 12n, 12],
  ["float8", 0.1],
  ["numeric", "1.50"],
  ["boolean", true],
  ["boolean", false],
  ["timestamptz", moment],
  ["timestamptz", early],
  ["timestamptz", moment.toISOString(), moment],
  ["date", "2026-02-03", new Date("2026-02-03T00:00:00Z")],
  ["bytea", Buffer.from([0, 1, 92, 255])],
  ["bytea", new Uint8Array([1, 2, 3, 4]).subarray(1, 3), Buffer.from([2, 3])],
  ["jsonb", { a: [1, null, { b: "x" }] }],
  ["jsonb", [1, "two", null]],
  ["jsonb", "a text"],
  ["jsonb", 5],
  ["json", { n: 1 }],
  ["varchar", '{"n": 1}', { n: 1 }],
  ["varchar[]", ['{"n": 1}', null], [{ n: 1 }, null]],
  ["text[]", awkward],
  ["text[]", []],
  ["text[]", ["a", null, "b"]],
  [
    "text[]",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["int[]", [1, null, -3]],
  ["int8[]", [1, 9_007_199_254_740_991]],
  ["float8[]", [0.5, 1e100]],
  ["boolean[]", [true, false, null]],
  ["timestamptz[]", [moment, null, early]],
  ["jsonb[]", [{ a: 1 }, ["x"], "y", null]],
  ["bytea[]", [Buffer.from([0, 255])]],
];

test("values keep their types in a round trip", async () => {
  for (const [type, value, back = value] of roundTrips) {
    assert.deepEqual(await returned(value as never, type), back, `${type} ${JSON.stringify(String(value))}`);
    assert.equal(await returned(null as never, type), null, type);
  }
});

test("JSON is sent as jsonb where PostgreSQL cannot infer the type", async () => {
  const value = { text: "x", list: [1] };
  const [row] =
    await sql`select jsonb_typeof(${sql.json(value)}) as type, ${sql.json(["a"])} as list, ${sql.json(null)} as nothing`;
  assert.deepEqual(row, { type: "object", list: ["a"], nothing: null });
});

test("dates, booleans and bytes need no cast", async () => {
  const [row] = await sql`
    select pg_typeof(${moment})::text as moment, pg_typeof(${true})::text as truth, pg_typeof(${1n})::text as number,
      pg_typeof(${Buffer.from("a")})::text as bytes, ${moment} - interval '1 second' as before`;
  assert.deepEqual(row, {
    moment: "timestamp with time zone",
    truth: "boolean",
    number: "bigint",
    bytes: "bytea",
    before: new Date(moment.getTime() - 1000),
  });
});

test("columns are in camelCase, and keys inside jsonb stay unchanged", async () => {
  const [row] = await sql`select 1 as tenant_id, '{"snake_case": 1}'::jsonb as some_data, 2 as plain`;
  assert.deepEqual(row, { tenantId: 1, someData: { snake_case: 1 }, plain: 2 });
});

test("an object that is not marked as JSON is refused, and the connection stays usable", async () => {
  for (let i = 0; i < 5; i++) {
    await assert.rejects(async () => await sql`select ${{ a: 1 } as never}::text`, TypeError);
  }
  assert.equal((await sql`select 1`).count, 1);
});

test("a result has the number of rows read or changed", async () => {
  await db.transaction(async (tx) => {
    await tx`create temporary table counted (n int) on commit drop`;
    const inserted = await tx`insert into counted select generate_series(1, 3)`;
    assert.deepEqual([inserted.length, inserted.count], [0, 3]);
    const changed = await tx`update counted set n = n + 1 where n > 1 returning n`;
    assert.deepEqual([changed.length, changed.count, changed.map(({ n }) => n)], [2, 2, [3, 4]]);
  });
});
