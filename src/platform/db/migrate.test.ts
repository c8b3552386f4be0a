import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { query } from "../../../test/harness/embedded-owner.ts";
import { testServerUrl } from "../../../test/harness/postgres.ts";
import { administer, databaseUrl } from "../../../test/harness/postgres-server.ts";
import { until } from "../../../test/harness/until.ts";
import { Failure } from "../../errors/index.ts";
import { migrate } from "./migrate.ts";

const first = { "0001_pools_table.sql": "create table pools (n int); insert into pools values (1);" };
const second = { ...first, "0002_pools_more.sql": "insert into pools values (2);" };

const serverUrl = testServerUrl();

/** An empty database, and a function that writes folders of migrations. */
async function scratch(t: TestContext) {
  const name = `migrate_${process.pid}_${Date.now()}`;
  const folders: string[] = [];
  await administer(serverUrl, `create database ${name}`);
  t.after(async () => {
    await administer(serverUrl, `drop database ${name} with (force)`);
    for (const folder of folders) await rm(folder, { recursive: true });
  });
  return {
    url: databaseUrl(serverUrl, name),
    folder: async (files: Record<string, string>) => {
      const folder = await mkdtemp(join(tmpdir(), "switchyard-migrations-"));
      folders.push(folder);
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
      return folder;
    },
  };
}

const refusal = (text: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === "FAILED_PRECONDITION" && text.test(error.message);

test("files are applied in order, each once, however often migrate runs", async (t) => {
  const { url, folder } = await scratch(t);
  assert.deepEqual(await migrate(url, await folder(first)), { applied: ["0001_pools_table.sql"] });
  assert.deepEqual(await migrate(url, await folder(second)), { applied: ["0002_pools_more.sql"] });
  assert.deepEqual(await migrate(url, await folder(second)), { applied: [] });
  assert.deepEqual(await query(url, "select array_agg(n order by n) as all from pools"), [{ all: [1, 2] }]);
});

test("nodes that start concurrently apply every file exactly once", async (t) => {
  const { url, folder } = await scratch(t);
  const files = await folder(second);
  const results = await Promise.all(Array.from({ length: 12 }, () => migrate(url, files)));
  assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), Object.keys(second));
  assert.deepEqual(await query(url, "select array_agg(n order by n) as all from pools"), [{ all: [1, 2] }]);
});

test("a file that fails is rolled back and named, and the files before it stay applied", async (t) => {
  const { url, folder } = await scratch(t);
  const broken = { ...first, "0002_pools_more.sql": "insert into pools values (2); select 1 / 0;" };
  await assert.rejects(migrate(url, await folder(broken)), refusal(/0002_pools_more\.sql failed: division by zero/));
  assert.deepEqual(await query(url, "select array_agg(n) as all from pools"), [{ all: [1] }]);
  assert.deepEqual(await migrate(url, await folder(second)), { applied: ["0002_pools_more.sql"] });
});

test("a file whose record cannot be written is rolled back", async (t) => {
  const { url, folder } = await scratch(t);
  const unrecorded = { ...first, "0002_pools_more.sql": "insert into pools values (2); drop table schema_migrations;" };
  await assert.rejects(migrate(url, await folder(unrecorded)), refusal(/0002_pools_more\.sql failed/));
  assert.deepEqual(await query(url, "select array_agg(n) as all from pools"), [{ all: [1] }]);
});

test("an interruption during a file rolls it back, and other nodes can proceed", async (t) => {
  const { url, folder } = await scratch(t);
  const slow = { ...first, "0002_pools_more.sql": "insert into pools values (2); select pg_sleep(600);" };
  const interrupted = assert.rejects(migrate(url, await folder(slow)), /terminating connection/);
  const sleeping = "pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
  await until(async () => (await query(url, `select 1 from ${sleeping}`)).length > 0);
  const waiting = migrate(url, await folder(second));
  await query(url, `select pg_terminate_backend(pid) from ${sleeping}`);
  await interrupted;
  assert.deepEqual(await waiting, { applied: ["0002_pools_more.sql"] });
  assert.deepEqual(await query(url, "select array_agg(n order by n) as all from pools"), [{ all: [1, 2] }]);
});

test("a file that was changed after it was applied is refused by name", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(first));
  const changed = await folder({ "0001_pools_table.sql": "create table pools (n bigint);" });
  await assert.rejects(migrate(url, changed), refusal(/its migration 0001_pools_table\.sql differs/));
});

test("a database of an earlier build is refused with what to do about its data, and stays unchanged", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder({ ...second, "0003_pools_last.sql": "insert into pools values (3);" }));
  const earlier = /earlier build: it has 0001_pools_table\.sql and 2 more .* Export .* start with an empty database/;
  const later = await folder({ "0001_kernel.sql": "create table kernel ();", "0002_pools.sql": "drop table pools;" });
  await assert.rejects(migrate(url, later), refusal(earlier));
  assert.deepEqual(await query(url, "select to_regclass('kernel') as kernel, count(*)::int as count from pools"), [
    { kernel: null, count: 3 },
  ]);
});

test("other line endings are not a change", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder({ "0001_pools_table.sql": "create table pools (\nn int\n);\n" }));
  const windows = await folder({ "0001_pools_table.sql": "create table pools (\r\nn int\r\n);\r\n" });
  assert.deepEqual(await migrate(url, windows), { applied: [] });
});

test("a database that a newer version has migrated is refused and stays unchanged", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(second));
  await assert.rejects(
    migrate(url, await folder(first)),
    refusal(/ahead of this version: it has 0002_pools_more\.sql/),
  );
});

test("a file numbered before one that is applied is refused", async (t) => {
  const { url, folder } = await scratch(t);
  const { "0002_pools_more.sql": _, ...rest } = { ...second, "0003_pools_last.sql": "insert into pools values (3);" };
  await migrate(url, await folder(rest));
  const late = await folder({ ...second, "0003_pools_last.sql": rest["0003_pools_last.sql"]! });
  await assert.rejects(migrate(url, late), refusal(/0002_pools_more\.sql comes before 0003_pools_last\.sql/));
});

test("a misnamed file and a duplicate number are refused before anything is applied", async (t) => {
  const { url, folder } = await scratch(t);
  await assert.rejects(migrate(url, await folder({ ...first, "2_more.sql": "" })), refusal(/2_more\.sql is not named/));
  const twice = await folder({ ...first, "0001_queues_table.sql": "" });
  await assert.rejects(migrate(url, twice), refusal(/Two migrations have the number 0001/));
  assert.deepEqual(await query(url, "select to_regclass('pools') as pools"), [{ pools: null }]);
});
