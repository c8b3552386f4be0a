import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { query, scratch } from "../../../test/harness/embedded-owner.ts";
import { startS3Server } from "../../../test/harness/s3-server.ts";
import { until } from "../../../test/harness/until.ts";
import { restoreMarkFile } from "../db/embedded/restore-mark.ts";
import { archiveStateFile, logFolder, readyForArchive } from "../db/embedded/wal-archiving.ts";
import { createLog } from "../log/log.ts";
import { createFileStore, createS3Store, type ObjectStore } from "../objects/index.ts";
import { backupProblem, readArchiveState } from "./archive-state.ts";
import { type ArchiverOptions, startArchiver } from "./archiver.ts";
import { createBackupTarget } from "./backup-target.ts";
import { readBackups } from "./catalog.ts";
import { readRestoreMark, restoreBackup } from "./restore-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

const key = randomBytes(32).toString("base64");

async function openBucket(t: TestContext) {
  const server = await startS3Server();
  t.after(server.close);
  return createS3Store({ ...server.settings, prefix: "installs/" }, Date.now);
}

function archiverOptions(parts: Pick<ArchiverOptions, "url" | "dataDir" | "target" | "objects">): ArchiverOptions {
  const log = createLog("silent");
  return { ...parts, version: "1.2.3", intervalMs: 3_600_000, keepDays: 1, now: Date.now, log };
}

/** Ends the current file of the log. */
const nextFile = (url: string) => query(url, "select pg_switch_wal()");

test("in a bucket: what was written after the backup is archived, verified, and restored with its objects", async (t) => {
  const store = await openBucket(t);
  const target = createBackupTarget(store, key);
  const place = await scratch(t, { initialised: true });
  const { dataDir } = place;
  const objects = createFileStore(join(dataDir, "objects"));
  let { url, stop } = await place.start({ isArchiving: true });
  let archiver = await startArchiver(archiverOptions({ url, dataDir, target, objects }));
  await until(async () => (await readBackups(target)).length === 1);
  await query(url, "create table notes (n int)");
  const bytes = randomBytes(1000);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await objects.put("t/00/a", ReadableStream.from([bytes]), { sizeBytes: 1000, sha256 }, new AbortController().signal);
  for (const n of [1, 2, 3]) {
    await query(url, `insert into notes values (${n})`);
    await nextFile(url);
  }
  await query(url, "insert into notes values (4)");
  await until(() => readyForArchive(dataDir).length === 0);
  await archiver.stop();
  await stop();
  // The last file of the log is complete once the server has ended.
  await archiver.archive();
  assert.deepEqual(readyForArchive(dataDir), []);
  const archived = await Array.fromAsync(target.list("wal/"));
  assert.deepEqual(
    archived.filter(({ key }) => !/\/[0-9A-F]{24}$/.test(key)),
    [],
    "nothing that retention would never remove",
  );
  const [backup] = await readBackups(target);
  assert.ok(backup!.segments.length >= 4, `${backup!.segments}`);
  assert.ok(backup!.until.getTime() > Date.parse(backup!.manifest.endedAt));
  const { files, ...others } = await verifyBackup(target, backup!);
  assert.ok(files > 1000);
  assert.deepEqual(others, { segments: backup!.segments.length, objects: 0 });

  const request = { backup: backup!, at: undefined, dataDir: join(dataDir, "restored"), objectsDir: undefined };
  const findObjectKeys = async () => ["t/00/a", "t/00/lost"];
  let notes: unknown[] = [];
  // As after a restore that ended while it wrote its mark.
  await mkdir(request.dataDir);
  await writeFile(restoreMarkFile(request.dataDir), "");
  const report = await restoreBackup(target, { ...request, findObjectKeys }, async (restored) => {
    notes = await query(restored, "select n from notes order by n");
    await assert.rejects(restoreBackup(target, { ...request, findObjectKeys }), /is in use by process/);
  });
  assert.deepEqual(
    notes.map((row) => (row as { n: number }).n),
    [1, 2, 3, 4],
  );
  assert.deepEqual([report.objects, report.missingObjects], [1, ["t/00/lost"]]);
  assert.equal(await readRestoreMark(request.dataDir), undefined);
  const copy = await createFileStore(join(request.dataDir, "objects")).stat("t/00/a");
  assert.equal(copy?.sizeBytes, 1000);

  // A log with a gap restores nothing after it, so the archiver takes another backup.
  const lost = `wal/${backup!.manifest.systemId}/00000001/${backup!.segments[1]}`;
  await target.remove(lost);
  const [gapped] = await readBackups(target);
  assert.deepEqual([gapped!.segments.length, gapped!.missing], [1, backup!.segments[1]]);
  ({ url, stop } = await place.start());
  archiver = await startArchiver(archiverOptions({ url, dataDir, target, objects }));
  await until(async () => (await readBackups(target)).length === 2);
  assert.equal((await readBackups(target))[1]!.missing, undefined);
  await archiver.stop();

  // Another key, and none, are refused with the fingerprints; a damaged part is named.
  for (const [wrong, found] of [
    [randomBytes(32).toString("base64"), /the key that is set has the fingerprint \w{12}/],
    ["", /none is set/],
  ] as const) {
    const other = createBackupTarget(store, wrong);
    const [listed] = await readBackups(other);
    assert.equal(listed!.manifest.key, target.key);
    await assert.rejects(verifyBackup(other, listed!), (error: Error) => {
      assert.match(error.message, new RegExp(`needs the key with the fingerprint ${target.key}`));
      return found.test(error.message);
    });
  }
  const part = `base/${backup!.manifest.id}/part-000002`;
  const { sizeBytes } = (await store.stat(part))!;
  const signal = new AbortController().signal;
  const stored = Buffer.concat(
    await Array.fromAsync((await store.read(part, { firstByte: 0, byteCount: sizeBytes }, signal))!),
  );
  stored[sizeBytes - 100]! ^= 1;
  const changed = { sizeBytes, sha256: createHash("sha256").update(stored).digest("hex") };
  await store.put(part, ReadableStream.from([stored]), changed, signal);
  await assert.rejects(verifyBackup(target, gapped!), /damaged: base\/\w+\/part-000002 is not what was stored/);
});

test("with another key, everything is backed up anew, the objects as well", async (t) => {
  const place = await scratch(t, { initialised: true });
  const { dataDir } = place;
  const objects = createFileStore(join(dataDir, "objects"));
  const bytes = randomBytes(1000);
  const expected = { sizeBytes: 1000, sha256: createHash("sha256").update(bytes).digest("hex") };
  await objects.put("t/00/a", ReadableStream.from([bytes]), expected, new AbortController().signal);
  const { url } = await place.start({ isArchiving: true });
  const store = createFileStore(join(dataDir, "backups"));
  for (const encryptionKey of [key, randomBytes(32).toString("base64"), ""]) {
    const target = createBackupTarget(store, encryptionKey);
    const archiver = await startArchiver(archiverOptions({ url, dataDir, target, objects }));
    const newest = await until(
      async () => (await readBackups(target)).at(-1),
      (backup) => backup !== undefined && backup.manifest.key === target.key,
    );
    await archiver.stop();
    assert.equal((await verifyBackup(target, newest!)).objects, 1);
  }
});

test("what keeps the log from being archived is told, whatever it is, and a mark without a file is forgotten", async (t) => {
  const place = await scratch(t, { initialised: true });
  const { dataDir } = place;
  const { url } = await place.start({ isArchiving: true });
  const target = createBackupTarget(createFileStore(join(dataDir, "backups")), "");
  const files = createFileStore(join(dataDir, "objects"));
  let isReadable = false;
  const objects: ObjectStore = {
    ...files,
    async *list(prefix) {
      if (!isReadable) throw new Error("permission denied");
      yield* files.list(prefix);
    },
  };
  // As a power failure may leave it.
  await writeFile(archiveStateFile(dataDir), "");
  const archiver = await startArchiver(archiverOptions({ url, dataDir, target, objects }));
  await nextFile(url);
  const state = await until(
    () => readArchiveState(dataDir),
    (each) => each?.waitingSince !== undefined && each.failure !== undefined && each.backupFailure !== undefined,
  );
  const backupLate = { summary: "the last backup was not created", reason: "permission denied" };
  assert.deepEqual(backupProblem(dataDir, Date.now()), backupLate);
  const logLate = { summary: `the log is not archived since ${state!.waitingSince}`, reason: "permission denied" };
  assert.deepEqual(backupProblem(dataDir, Date.parse(state!.waitingSince!) + 300_000), logLate);
  isReadable = true;
  const mark = join(logFolder(dataDir), "archive_status", "0000000100000000000000F0.ready");
  await writeFile(mark, "");
  await until(() => !existsSync(mark) && readyForArchive(dataDir).length === 0);
  await until(() => readArchiveState(dataDir)?.waitingSince === undefined);
  await archiver.stop();
});

test("PostgreSQL keeps its log while the store is away, also over starts of others, and the state says since when", async (t) => {
  const place = await scratch(t, { initialised: true });
  const { dataDir } = place;
  const away = createS3Store(
    {
      endpoint: "http://127.0.0.1:1",
      region: "r",
      bucket: "bbb",
      prefix: "",
      accessKeyId: "a",
      secretAccessKey: "b",
      sessionToken: undefined,
      addressing: "path",
    },
    Date.now,
  );
  let { url, stop } = await place.start({ isArchiving: true });
  const archiver = await startArchiver(
    archiverOptions({ url, dataDir, target: createBackupTarget(away, ""), objects: undefined }),
  );
  await query(url, "create table notes (n int)");
  await nextFile(url);
  const [first] = await until(
    () => readyForArchive(dataDir),
    (names) => names.length > 0,
  );
  const state = await until(
    () => readArchiveState(dataDir),
    (each) => each?.failure !== undefined && each.backupFailure !== undefined,
  );
  assert.ok(state!.waitingSince !== undefined && state!.archivedUntil === undefined);
  assert.match(backupProblem(dataDir, Date.now() + 600_000)!.reason!, /^(HEAD|GET) failed\. .*ECONNREFUSED/);
  await archiver.stop();
  await stop();
  // As `service migrate` starts it, without an archiver.
  ({ url, stop } = await place.start());
  for (let n = 0; n < 3; n++) {
    await query(url, `insert into notes values (${n})`);
    await nextFile(url);
  }
  await query(url, "checkpoint");
  assert.ok((await readdir(logFolder(dataDir))).includes(first!));
  assert.equal(readyForArchive(dataDir)[0], first);
  await stop();
});
