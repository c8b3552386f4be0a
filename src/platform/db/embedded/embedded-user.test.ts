import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { query, scratch } from "../../../../test/harness/embedded-owner.ts";
import { nativeFolder } from "./embedded-binaries.ts";
import { reachable, serverUser } from "./embedded-user.ts";
import { socketHost } from "./socket-host.ts";

const nobody = { uid: 65534, gid: 65534 };
const stranger = { uid: 54321, gid: 54321 };
const canRun = (user: { uid: number; gid: number }) =>
  process.geteuid?.() === 0 && spawnSync(process.execPath, ["-e", ""], { ...user, cwd: "/" }).status === 0;
const asRoot = { skip: process.geteuid?.() !== 0 && "needs root" };
const withUsers = { skip: !canRun(nobody) && "needs root, in a folder that others can read" };

/** The result of a user's connection to the server's socket: "in" or the system's error. */
function knock(url: string, user: { uid: number; gid: number }): string {
  const script = `require("node:net").connect(process.argv[1])
    .on("connect", () => { console.log("in"); process.exit(); })
    .on("error", (error) => console.log(error.code))`;
  const socket = join(socketHost(url)!, ".s.PGSQL.5432");
  return execFileSync(process.execPath, ["-e", script, socket], { ...user, cwd: "/", encoding: "utf8" }).trim();
}

test("root starts it in a folder that only root can enter", asRoot, async (t) => {
  const { dataDir, start } = await scratch(t);
  chmodSync(dataDir, 0o700);
  await query((await start()).url, "create table t as select 1");
});

test("root without user namespaces starts it as nobody, in a folder that only root can enter", asRoot, async (t) => {
  const { dataDir, start } = await scratch(t);
  chmodSync(dataDir, 0o700);
  const { url, pid, stop } = await start({ userNamespaces: false });
  await query(url, "create table kept as select 1 as n");
  assert.equal(statSync(`/proc/${pid}`).uid, nobody.uid);
  await stop();
  const again = await start({ userNamespaces: false });
  assert.deepEqual(await query(again.url, "select n from kept"), [{ n: 1 }]);
});

test("data created in a user namespace opens without one, and vice versa", asRoot, async (t) => {
  const { start } = await scratch(t);
  for (const userNamespaces of [true, false, true]) {
    const { url, stop } = await start({ userNamespaces });
    await query(url, "create table if not exists t ()");
    await stop();
  }
});

test("an ordinary user starts it in their own folder", withUsers, async (t) => {
  const { dataDir, owner } = await scratch(t);
  chownSync(dataDir, nobody.uid, nobody.gid);
  const server = await owner({}, nobody).started;
  assert.ok("url" in server, JSON.stringify(server));
  assert.equal(knock(server.url, nobody), "in");
});

test("one start by root does not lock an ordinary user out of their data", withUsers, async (t) => {
  const { dataDir, start, owner } = await scratch(t);
  chownSync(dataDir, nobody.uid, nobody.gid);
  const first = owner({}, nobody);
  assert.ok("url" in (await first.started));
  await first.kill();
  await (await start()).stop();
  assert.ok("url" in (await owner({}, nobody).started));
});

for (const userNamespaces of [true, false]) {
  const how = userNamespaces ? "in a user namespace" : "as nobody";
  test(`no other user of the machine reaches a server that root runs ${how}`, withUsers, async (t) => {
    const { dataDir, start } = await scratch(t);
    chmodSync(dataDir, 0o777);
    const { url } = await start({ userNamespaces });
    assert.deepEqual(
      [stranger, nobody].map((user) => knock(url, user)),
      ["EACCES", "EACCES"],
    );
  });
}

test("no other user of the machine reaches a server that an ordinary user runs", withUsers, async (t) => {
  const { dataDir, owner } = await scratch(t);
  chownSync(dataDir, nobody.uid, nobody.gid);
  chmodSync(dataDir, 0o777);
  const server = await owner({}, nobody).started;
  assert.ok("url" in server);
  assert.equal(knock(server.url, stranger), "EACCES");
});

test("a server user without access to the programs gets a copy, created once", asRoot, async (t) => {
  const { dataDir } = await scratch(t);
  chmodSync(dataDir, 0o711);
  const hidden = join(dataDir, "hidden");
  mkdirSync(hidden, { mode: 0o700 });
  cpSync(nativeFolder(), join(hidden, "native"), { recursive: true, verbatimSymlinks: true });
  const user = serverUser(join(dataDir, "none"), { userNamespaces: false });
  const copy = reachable(join(hidden, "native"), user, join(dataDir, "store"));
  assert.ok(copy.startsWith(join(dataDir, "store")));
  const { ino } = statSync(copy);
  assert.equal(reachable(join(hidden, "native"), user, join(dataDir, "store")), copy);
  assert.equal(statSync(copy).ino, ino);
  const version = execFileSync(join(copy, "bin", "postgres"), ["--version"], { ...user.id, encoding: "utf8" });
  assert.match(version, /PostgreSQL\) 18/);
});
