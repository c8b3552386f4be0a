import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDatabase } from "../../../test/harness/postgres.ts";
import { ulid } from "../ids/ulid.ts";
import { openDatabase, readBacklogs } from "./index.ts";

test("a backlog is its due rows, up to 10,000, with the age of the longest-waiting one", async (t) => {
  const { url, drop } = await freshDatabase();
  const db = openDatabase(url, { maxConnections: 1 });
  t.after(async () => {
    await db.close();
    await drop();
  });
  const anHourAgo = ulid(Date.now() - 3_600_000);
  const states = await readBacklogs(db, [
    {
      name: "due",
      rows: (sql) =>
        sql`select now() + minutes * interval '1 minute', '' from unnest(array[-2, -90, 5, 500]) as minutes`,
    },
    {
      name: "by_id",
      rows: (sql) => sql`select null::timestamptz, id from unnest(array[${ulid(Date.now())}, ${anHourAgo}]) as id`,
    },
    { name: "empty", rows: (sql) => sql`select now(), '' where false` },
    { name: "many", rows: (sql) => sql`select now(), '' from generate_series(1, 20000)` },
  ]);
  assert.deepEqual(
    states.map(({ name, rows, oldestMs }) => [name, rows, Math.round(oldestMs / 60_000)]),
    [
      ["due", 2, 90],
      ["by_id", 2, 60],
      ["empty", 0, 0],
      ["many", 10_000, 0],
    ],
  );
});
