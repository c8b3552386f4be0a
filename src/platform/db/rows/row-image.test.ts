import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../test/harness/context.ts";
import { insertRowImages, readRowImages } from "../index.ts";

test("a row that is restored from its image has the same bytes in every column", async () => {
  const { sql } = await testDatabase();
  await sql`
    create table samples (id text primary key, doc json, data jsonb, at timestamptz, list text[], ratio double precision,
      raw bytea, flag boolean, nothing text)`;
  const document = '{ "b" : 1,\n  "a" : "ü \\u0041", "list": [ 1 , 2.0 ] }';
  await sql`
    insert into samples values ('one', ${document}::text::json, '{"b": 1.50, "a": null}', '2026-01-02 03:04:05.678901+00',
      array['x', null, 'y"z'], 0.1::float8 + 0.2::float8, '\\x00ff10', true, null), ('two', '"text"', '[]', now(), '{}', 'NaN',
      '', false, '')`;
  const dump = () => sql`
    select id, doc::text, data::text, at::text, list::text, ratio::text, raw::text, flag, nothing from samples order by id`;
  const before = await dump();
  const images = await readRowImages(sql, "samples", sql`true`, 10);
  assert.equal(images.length, 2);
  await sql`delete from samples`;
  await insertRowImages(sql, "samples", images);
  assert.deepEqual(await dump(), before);
  await insertRowImages(sql, "samples", []);
});
