import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { query } from "../../../test/harness/embedded-owner.ts";
import { testServerUrl } from "../../../test/harness/postgres.ts";
import { administer, connect, databaseUrl } from "../../../test/harness/postgres-server.ts";
import { until } from "../../../test/harness/until.ts";
import { Failure } from "../../errors/index.ts";
import { migrate } from "./migrate.ts";
import { VersionError } from "./schema-version.ts";

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

const release = (version: string, compatibleSince: string) => ({ release: { version, compatibleSince } });
const v1 = release("0.1.0", "0.1.0");
const v2 = release("0.2.0", "0.1.0");
const v3 = release("0.3.0", "0.2.0");

test("the version before starts on a schema that the next one has migrated, also after a rollback, and none older", async (t) => {
  const { url, folder } = await scratch(t);
  const third = { ...second, "0003_pools_last.sql": "insert into pools values (3);" };
  await migrate(url, await folder(first), v1);
  assert.deepEqual(await migrate(url, await folder(second), v2), { applied: ["0002_pools_more.sql"] });
  assert.deepEqual(await migrate(url, await folder(first), v1), { applied: [] });
  assert.deepEqual(await migrate(url, await folder(third), v3), { applied: ["0003_pools_last.sql"] });
  assert.deepEqual(await migrate(url, await folder(second), v2), { applied: [] });
  const tooOld = (error: unknown) =>
    error instanceof VersionError && /0\.1\.0 is too old.* Install version 0\.3\.0/.test(error.message);
  await assert.rejects(migrate(url, await folder(first), v1), tooOld);
  await assert.rejects(migrate(url, await folder(third), v1), tooOld, "also with the same files");
});

test("a version that skips one is refused before it changes anything, and names the one to run first", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(first), v1);
  await assert.rejects(
    migrate(url, await folder(second), v3),
    (error) => error instanceof VersionError && /npx --package=switchyard@0\.2\.0 service migrate/.test(error.message),
  );
  assert.deepEqual(await query(url, "select array_agg(n) as all from pools"), [{ all: [1] }]);
  await migrate(url, await folder(first), v2);
  assert.deepEqual(await migrate(url, await folder(second), v3), { applied: ["0002_pools_more.sql"] });
});

test("unknown migrations of the same version, or among the known ones, are refused", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(second), v1);
  await assert.rejects(migrate(url, await folder(first), v1), refusal(/ahead of this version/));
  await migrate(url, await folder(second), v2);
  const other = await folder({ ...first, "0003_pools_last.sql": "" });
  await assert.rejects(migrate(url, other, v1), refusal(/earlier build: it has 0002_pools_more\.sql/));
});

test("a migration that waits for a long transaction lets calls through, and is applied when it ends", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(first));
  const [holder, caller] = [connect(url, 1), connect(url, 1)];
  t.after(() => Promise.all([holder.end(), caller.end()]));
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const held = holder.begin(async (tx) => {
    await tx`select from pools`;
    begun.resolve();
    await end;
  });
  await begun.promise;
  const blocked: string[] = [];
  const column = { ...first, "0002_pools_more.sql": "alter table pools add column m int;" };
  const migrated = migrate(url, await folder(column), { onBlocked: (name) => blocked.push(name) });
  await until(() => blocked.length >= 2);
  await caller`insert into pools values (2)`;
  assert.equal((await query(url, "select from pg_locks where not granted")).length, 0);
  resolve();
  await held;
  assert.deepEqual(await migrated, { applied: ["0002_pools_more.sql"] });
});

const concurrently = {
  ...first,
  "0002_pools_index.sql": `-- Outside of a transaction, because calls go on while the index is built.
drop index concurrently if exists pools_n;
create index concurrently pools_n on pools (n);
`,
};

test("an index is built while rows are written, by one of many nodes", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(first));
  const files = await folder(concurrently);
  const results = await Promise.all(Array.from({ length: 6 }, () => migrate(url, files)));
  assert.deepEqual(
    results.flatMap(({ applied }) => applied),
    ["0002_pools_index.sql"],
  );
  assert.deepEqual(await query(url, "select indisvalid from pg_index where indexrelid = 'pools_n'::regclass"), [
    { indisvalid: true },
  ]);
});

test("an index whose build was interrupted is built again", async (t) => {
  const { url, folder } = await scratch(t);
  await migrate(url, await folder(first));
  const holder = connect(url, 1);
  t.after(() => holder.end());
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const held = holder.begin(async (tx) => {
    await tx`insert into pools values (2)`;
    await end;
  });
  const interrupted = assert.rejects(migrate(url, await folder(concurrently)), /terminating connection/);
  const building = "pg_stat_activity where query like 'create index concurrently%' and datname = current_database()";
  await until(async () => (await query(url, `select 1 from ${building} and wait_event_type = 'Lock'`)).length > 0);
  await query(url, `select pg_terminate_backend(pid) from ${building}`);
  await interrupted;
  resolve();
  await held;
  const state = "select indisvalid from pg_index where indexrelid = to_regclass('pools_n')";
  assert.deepEqual(await query(url, state), [{ indisvalid: false }]);
  assert.deepEqual(await migrate(url, await folder(concurrently)), { applied: ["0002_pools_index.sql"] });
  assert.deepEqual(await query(url, state), [{ indisvalid: true }]);
});
