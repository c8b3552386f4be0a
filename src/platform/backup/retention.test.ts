import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createFileStore } from "../objects/index.ts";
import { createBackupTarget } from "./backup-target.ts";
import {
  type BackupManifest,
  manifestName,
  objectListName,
  partName,
  readCatalog,
  removeExpiredBackups,
} from "./catalog.ts";
import { nameOfSegment, segmentBefore } from "./wal-segment.ts";

const day = 86_400_000;
const now = Date.UTC(2027, 0, 31);

test("segments follow each other over the parts of their names", () => {
  assert.equal(segmentBefore("0/3000050"), 3n);
  assert.equal(segmentBefore("0/3000000"), 2n);
  assert.equal(segmentBefore("2A/FF000001"), 0x2an * 256n + 0xffn);
  assert.equal(nameOfSegment(1, 0x2an * 256n + 0xffn), "000000010000002A000000FF");
  assert.equal(nameOfSegment(0x1f, 256n), "0000001F0000000100000000");
});

test("retention keeps what a restore to any time of the last days needs, and removes the rest", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "retention-"));
  t.after(() => rm(directory, { recursive: true }));
  const target = createBackupTarget(createFileStore(directory), "");
  const store = async (name: string, atMs: number, content = "x") => {
    await target.write(name, Buffer.from(content), atMs);
    await utimes(join(directory, "stored", name), atMs / 1000, atMs / 1000);
  };
  /** A backup that ends in segment `number` of its timeline. */
  const backup = async (id: string, daysAgo: number, timeline: number, number: number, objects = "") => {
    const atMs = now - daysAgo * day;
    const time = new Date(atMs).toISOString();
    const endLsn = `0/${(number * 16 * 2 ** 20 + 80).toString(16)}`;
    const manifest: BackupManifest = {
      ...{
        id,
        version: "1",
        postgres: "18",
        systemId: "7",
        timeline,
        startedAt: time,
        endedAt: time,
        startLsn: endLsn,
      },
      ...{ endLsn, parts: 1, bytes: 1, storedBytes: 1 },
    };
    await store(partName(id, 1), atMs);
    await store(objectListName(id), atMs, objects);
    await store(manifestName(id), atMs, JSON.stringify(manifest));
  };
  const log = (timeline: number, number: number, daysAgo: number) =>
    store(`wal/7/0000000${timeline}/${nameOfSegment(timeline, BigInt(number))}`, now - daysAgo * day);
  await backup("first", 20, 1, 2);
  await backup("second", 10, 1, 4, "t/00/kept");
  await backup("third", 3, 2, 8, "t/00/back");
  await backup("damaged", 5, 1, 4);
  await writeFile(join(directory, "stored", manifestName("damaged")), "");
  // What somebody else may have written there.
  const forged = ["not json", "null", "{}", `{"id":"forged-4","systemId":"../7","timeline":1}`];
  for (const [nth, text] of forged.entries()) await store(manifestName(`forged-${nth + 1}`), now, text);
  await mkdir(join(directory, "incoming"), { recursive: true });
  await writeFile(join(directory, "incoming", "killed"), "");
  await utimes(join(directory, "incoming", "killed"), (now - 2 * day) / 1000, (now - 2 * day) / 1000);
  // The remains of an interrupted backup, and one in progress.
  await store(partName("broken", 1), now - 2 * day);
  await store(partName("current", 1), now - 60_000);
  for (const [number, daysAgo] of [
    [3, 19],
    [4, 12],
    [5, 9],
    [6, 8],
  ] as const)
    await log(1, number, daysAgo);
  for (const [number, daysAgo] of [
    [7, 6],
    [9, 2],
  ] as const)
    await log(2, number, daysAgo);
  await store("wal/7/00000002/00000002.history", now - 7 * day);
  await store("objects/7/plain/t/00/kept", now - 15 * day);
  await store("objects/7/plain/t/00/gone", now - 15 * day);
  // A restored server has it again, though backups before the restore do not list it.
  await store("objects/7/plain/t/00/back", now - 15 * day);
  await store("objects/7/plain/t/00/new", now - 9 * day);

  assert.deepEqual(await removeExpiredBackups(target, 7, now), ["first"]);
  const left = (await Array.fromAsync(target.list(""))).map((found) => found.key).sort();
  assert.deepEqual(left, [
    "base/current/part-000001",
    ...["manifest", "objects", "part-000001"].map((name) => `base/damaged/${name}`),
    ...forged.map((_, nth) => `base/forged-${nth + 1}/manifest`),
    ...["manifest", "objects", "part-000001"].map((name) => `base/second/${name}`),
    ...["manifest", "objects", "part-000001"].map((name) => `base/third/${name}`),
    "objects/7/plain/t/00/back",
    "objects/7/plain/t/00/kept",
    "objects/7/plain/t/00/new",
    "wal/7/00000001/000000010000000000000005",
    "wal/7/00000001/000000010000000000000006",
    "wal/7/00000002/00000002.history",
    "wal/7/00000002/000000020000000000000009",
  ]);
  assert.deepEqual(await readdir(join(directory, "incoming")), []);
  const { backups, damaged } = await readCatalog(target);
  assert.deepEqual(damaged.toSorted(), ["damaged", ...forged.map((_, nth) => `forged-${nth + 1}`)]);
  const shown = backups.map(({ manifest, segments, missing }) => [manifest.id, segments.length, missing]);
  assert.deepEqual(shown, [
    ["second", 2, undefined],
    ["third", 1, undefined],
  ]);
  // The newest one is kept, however old it is.
  assert.deepEqual(await removeExpiredBackups(target, 7, now + 100 * day), ["second"]);
});
