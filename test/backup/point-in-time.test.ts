import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { findRunningEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { cli } from "../cli/cli-run.ts";
import { nodeMain, startNodeProcess } from "../harness/node-process.ts";
import { connect, newServerFolder } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { objectClient } from "../streams/object-client.ts";
import { startEventLoad } from "./event-load.ts";

const set = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);

/** The backups that `list` shows. */
async function backupsOf(settings: Readonly<Record<string, string>>) {
  const { out, err } = await cli(["backup", "list", "--json", ...set(settings)]);
  assert.equal(err, "");
  return JSON.parse(out).backups as { id: string; endedAt: string; restorableUntil: string; timeline: number }[];
}

test("a backup under load, restored to a time, has all that was acknowledged before and nothing that was sent after", async (t) => {
  const place = await newServerFolder();
  t.after(() => rm(place, { recursive: true, force: true }));
  const store = {
    "backup.backend": "file",
    "backup.file.dir": join(place, "backups"),
    "backup.encryption_key": randomBytes(32).toString("base64"),
    "backup.archive_timeout_s": "5",
  };
  const settings = { ...store, "data.dir": join(place, "data"), "server.processes": String(sized(1, 2)) };
  const startedAtMs = Date.now();
  const node = await startNodeProcess(settings);
  t.after(() => node.kill());
  const admin = restClient(node.baseUrl, node.adminKey);
  const secret = await admin.call("POST", "/api/v2/secrets", { name: "smtp", value: "correct horse" });
  assert.equal(secret.status, 200, secret.text);
  const load = startEventLoad(node.baseUrl, node.adminKey, sized(2, 4));
  await until(async () => (await backupsOf(settings)).length > 0);
  const created = await cli(["backup", "create", ...set(settings)]);
  assert.match(created.out, /^Created backup \w+: .* encrypted with the key \w{12}\.$/m, created.err);

  // After the backup, so that only the archive has it.
  const objects = objectClient(node.baseUrl, node.adminKey);
  const bytes = randomBytes(100_000);
  const { path } = await objects.deliver(await objects.createStream(), bytes);
  const countAtTime = load.count() + sized(200, 20_000);
  await until(() => load.count() >= countAtTime, Boolean, 600_000);
  const time = new Date();
  await until(() => load.count() >= countAtTime + sized(200, 20_000), Boolean, 600_000);
  await load.stop();
  await until(async () => (await backupsOf(settings)).every((each) => Date.parse(each.restorableUntil) > +time + 1000));
  const metrics = (await admin.call("GET", "/metrics")).text;
  for (const name of ["archived_until", "last_backup"]) {
    const value = Number(new RegExp(`^\\w*backup_${name}_timestamp_seconds (.*)$`, "m").exec(metrics)?.[1]);
    assert.ok(value * 1000 > startedAtMs && value * 1000 <= Date.now(), `${name}: ${value}`);
  }
  const doctor = await cli(["doctor", ...set(settings)]);
  assert.match(doctor.out, /^ok {4}backup\.backend: what was acknowledged before \S+ can be restored$/m);
  const unset = await cli(["doctor", ...set({ ...settings, "backup.backend": "none" })]);
  assert.match(unset.out, /^warn {2}backup\.backend: there are no backups/m);
  await node.kill();

  const dataDir = join(place, "restored");
  const words = ["backup", "restore", "--to", dataDir, "--at", time.toISOString(), ...set(settings)];
  // The first file appears when PostgreSQL is about to start there; the second one while the cluster is copied.
  for (const file of ["recovery.signal", "global/1262"].slice(0, sized(1, 2))) {
    const child = spawn(process.execPath, [nodeMain, ...words], { stdio: "ignore" });
    await until(() => existsSync(join(dataDir, "postgres", "cluster", file)), Boolean, 600_000);
    child.kill("SIGKILL");
    const [code] = child.exitCode === null && child.signalCode === null ? await once(child, "exit") : [child.exitCode];
    assert.notEqual(code, 0);
    const early = await cli(["serve", ...set({ ...settings, "data.dir": dataDir, "server.processes": "1" })]);
    assert.match(early.err, /The restore of the data folder .* did not end\. Run the same command again: /);
  }
  const other = await cli(["backup", "restore", "--to", dataDir, ...set(settings)]);
  assert.match(other.err, /holds an interrupted restore of \w+ to .*: repeat that one, or choose a new folder/);
  const restored = await cli(words);
  assert.equal(restored.exitCode, 0, restored.err);
  const again = await cli(words);
  assert.match(again.err, /is not empty: choose a new folder/);

  const restoredSettings = { ...settings, "data.dir": dataDir };
  const next = await startNodeProcess(restoredSettings);
  t.after(() => next.kill());
  assert.equal(next.adminKey, node.adminKey);
  const running = findRunningEmbedded(dataDir);
  const sql = connect(running.url, 1);
  const rows = await sql`
    select (data->>'n')::int as n from events where type = 'order.paid' and source <> '' order by n`;
  const [era] = await sql`select (value->>'era')::int as era from instance where name = 'stamps'`;
  await sql.end();
  running.close();
  const there = new Set(rows.map(({ n }) => n));
  const { before, after } = load.around(time.getTime());
  assert.ok(before.length >= sized(200, 20_000) && after.length >= sized(100, 10_000));
  assert.deepEqual(
    before.filter((n) => !there.has(n)),
    [],
    "nothing that was acknowledged is missing",
  );
  assert.deepEqual(
    after.filter((n) => there.has(n)),
    [],
    "nothing later is there",
  );
  assert.equal(era!.era, 2, "the order of events goes on in a new era");
  t.diagnostic(`${before.length} acknowledged before, ${after.length} sent after, ${rows.length} restored`);
  const download = await objectClient(next.baseUrl, next.adminKey).raw("GET", path);
  assert.ok(bytes.equals(download.bytes));
  // It goes on to archive, from a backup of its own.
  await until(async () => (await backupsOf(restoredSettings)).some(({ timeline }) => timeline === 2));
  next.process.kill("SIGTERM");
  assert.equal(await next.exited, 0);

  // With another active key, every secret must be opened with the restored one.
  const master = (await readFile(join(dataDir, "master.key"), "utf8")).trim();
  const rotated = await cli([
    "rotate-keys",
    ...set({
      ...restoredSettings,
      "connector.encryption_key": randomBytes(32).toString("base64"),
      "connector.encryption_key_id": "k2",
      "connector.rotation_keys": `k1=${master}`,
    }),
  ]);
  assert.match(rotated.out, /^Re-encrypted [1-9]\d* secrets/, rotated.err);
});
