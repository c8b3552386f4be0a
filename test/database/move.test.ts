import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cli } from "../cli/cli-run.ts";
import { scratch } from "../harness/embedded-owner.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { connect, installedPostgres, newServerFolder, startInstalled } from "../harness/postgres-server.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { startOrderWork, workMsMax, workSettings } from "./order-work.ts";

const count = sized(150, 10_000);

/** Another PostgreSQL with an empty database: the installed one, or a second embedded one. */
async function startTarget(t: TestContext): Promise<string> {
  const folder = installedPostgres();
  if (folder === undefined) {
    t.diagnostic("No PostgreSQL is installed here: the rows move to a second embedded one.");
    return (await (await scratch(t, { initialised: true })).start()).url;
  }
  const dataDir = await newServerFolder();
  const server = await startInstalled(folder, join(dataDir, "cluster"));
  t.after(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return server.url;
}

const set = (settings: Readonly<Record<string, string>>) =>
  Object.entries({ "log.level": "silent", "server.internal_addr": "127.0.0.1:0", ...settings }).flatMap(
    ([name, value]) => ["--set", `${name}=${value}`],
  );

test("the embedded database moves to another PostgreSQL under load, and no event, run or item is lost or skipped", async (t) => {
  const target = await startTarget(t);
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-move-"));
  t.after(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }));
  const onSource = { ...workSettings, "data.dir": dataDir };
  let node = await startNodeProcess(onSource);
  const { baseUrl } = node;
  t.after(() => node.kill());
  const work = await startOrderWork(() => baseUrl);
  const writing = work.write(count);
  await until(() => work.events.size > count / 3, Boolean, workMsMax);

  const busy = await cli(["database", "move", "--to", target, ...set(onSource)]);
  assert.equal(busy.exitCode, 1);
  assert.match(busy.err, /is in use by process \d+.* Stop that process first/);
  node.process.kill("SIGTERM");
  assert.equal(await node.exited, 0);
  const moved = await cli(["database", "move", "--to", target, ...set(onSource)]);
  assert.equal(moved.exitCode, 0, moved.err);
  assert.match(moved.out, /^Moved [\d,]+ rows of \d+ tables to postgres:.* Counts and digests agree\./);

  const onTarget = { ...workSettings, "database.url": target, "server.http_addr": new URL(baseUrl).host };
  node = await startNodeProcess(onTarget);
  await writing;
  await work.assertWhole(target);
  await node.kill();

  const refused = await cli(["serve", ...set(onSource)]);
  assert.equal(refused.exitCode, 78);
  assert.match(refused.err, /database\.url: the database was moved to postgres:.* Set database\.url to it/);
});

test("an interrupted move leaves the source as it was, and can be repeated or finished", async (t) => {
  const source = await (await scratch(t, { initialised: true })).start();
  const target = await startTarget(t);
  const from = { "database.url": source.url };
  const onSource = connect(source.url, 2);
  t.after(() => onSource.end());
  const onTarget = connect(target, 2);
  t.after(() => onTarget.end());
  const move = () => cli(["database", "move", "--to", target, ...set(from)]);
  assert.equal((await cli(["migrate", ...set(from)])).exitCode, 0);
  await onSource`
    insert into events (tenant_id, id, type, source, time)
    select 'a', lpad(n::text, 26, '0'), 'order.paid', repeat('x', 1000), now() from generate_series(1, 5000) n`;
  const isMarked = async () => (await onSource`select from instance where name = 'moved'`).count > 0;
  const copied = async () => (await onTarget`select from events`).count;

  // A lock of another program on the target stops the copy in its midst.
  assert.equal((await cli(["migrate", ...set({ "database.url": target })])).exitCode, 0);
  const copying = "pg_stat_activity where query like 'copy \"events\"%' and pid <> pg_backend_pid()";
  const blocker = connect(target, 1);
  const isBlocking = Promise.withResolvers<void>();
  const unblock = Promise.withResolvers<void>();
  const blocking = blocker.begin(async (tx) => {
    await tx`lock table events in share mode`;
    isBlocking.resolve();
    await unblock.promise;
  });
  await isBlocking.promise;
  const interrupted = move();
  await until(async () => (await onTarget.unsafe(`select pg_terminate_backend(pid) from ${copying}`)).count > 0);
  assert.equal((await interrupted).exitCode, 1);
  unblock.resolve();
  await blocking;
  await blocker.end();
  assert.deepEqual([await isMarked(), await copied()], [false, 0]);

  const again = await move();
  assert.equal(again.exitCode, 0, again.err);
  assert.deepEqual([await isMarked(), await copied()], [true, 5000]);
  assert.match((await move()).err, /the database was moved to/);

  // As after an interruption between the commit on the target and the mark.
  await onSource`delete from instance where name = 'moved'`;
  const finished = await move();
  assert.match(finished.out, /were already there and are the same: the interrupted move is complete/);
  assert.equal(await isMarked(), true);

  await onSource`delete from instance where name = 'moved'`;
  await onTarget`update events set subject = 'changed' where id = lpad('7', 26, '0')`;
  const different = await move();
  assert.match(different.err, /the target is not empty, and no copy: its table events has other rows/);
  assert.equal(await isMarked(), false);
});

test("a move refuses the database itself, tables of others, and a source that nodes use", async (t) => {
  const source = await (await scratch(t, { initialised: true })).start();
  const target = await startTarget(t);
  const move = (to: string) => cli(["database", "move", "--to", to, ...set({ "database.url": source.url })]);
  assert.match((await move(source.url)).err, /the target is the database itself/);
  const onTarget = connect(target, 1);
  await onTarget`create table other (n int)`;
  assert.match((await move(target)).err, /the target is not empty: it has the table other/);
  await onTarget`drop table other`;
  await onTarget.end();
  const node = connect(`${source.url}?application_name=switchyard`, 1);
  await node`select 1`;
  assert.match((await move(target)).err, /nodes use the database over 1 connections: stop them first/);
  await node.end();
  assert.equal((await move(target)).exitCode, 0);
});
