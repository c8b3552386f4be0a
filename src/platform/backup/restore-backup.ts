import { createWriteStream, existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fail } from "../../errors/index.ts";
import { type Embedded, lockEmbedded, removeEmbedded, startEmbedded } from "../db/embedded/embedded.ts";
import { restoreMarkFile } from "../db/embedded/restore-mark.ts";
import { logFolder } from "../db/embedded/wal-archiving.ts";
import { createFileStore, type ExpectedBody } from "../objects/index.ts";
import { readCluster } from "./backup-content.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type Backup, keysName, objectFolder } from "./catalog.ts";
import { sha256Of } from "./sealed-blob.ts";
import { walFolder } from "./wal-segment.ts";

/** What to restore, and where to. */
export interface RestoreRequest {
  readonly backup: Backup;
  /** The time to restore; everything that was archived by default. */
  readonly at: Date | undefined;
  /** The new data folder. */
  readonly dataDir: string;
  /** Where large objects are put; `objects` in the data folder by default. */
  readonly objectsDir: string | undefined;
  /** The keys of the objects that the rows of a database refer to. */
  readonly findObjectKeys: (url: string) => Promise<readonly string[]>;
}

/** What was restored. */
export interface RestoreReport {
  readonly files: number;
  readonly segments: number;
  readonly objects: number;
  /** Objects that rows refer to and the backup does not have. */
  readonly missingObjects: readonly string[];
}

/** The restore that a folder is being filled by. */
interface RestoreMark {
  readonly backup: string;
  readonly at: string | null;
}

/**
 * Restores a backup into a new data folder, and stops the server there again. The folder is marked until all is done. A restore that
 * was interrupted is repeated from the start. `inspect` is called while the restored server runs.
 */
export async function restoreBackup(
  target: BackupTarget,
  request: RestoreRequest,
  inspect: (url: string) => Promise<void> = async () => {},
): Promise<RestoreReport> {
  const { backup, at, dataDir } = request;
  const unlock = await prepareFolder(dataDir, { backup: backup.manifest.id, at: at?.toISOString() ?? null });
  let embedded: Embedded | undefined;
  try {
    const files = await writeCluster(target, request);
    const segments = await writeLog(target, request);
    await writeKeys(target, request);
    embedded = await recover(request);
    const objects = await writeObjects(target, request, await request.findObjectKeys(embedded.url));
    await inspect(embedded.url);
    await embedded.stop();
    await rm(restoreMarkFile(dataDir));
    await synchronize(dataDir);
    return { files, segments, ...objects };
  } finally {
    await embedded?.stop();
    unlock();
  }
}

/** The restore that was interrupted in a folder; undefined if there was none. */
export async function readRestoreMark(dataDir: string): Promise<RestoreMark | undefined> {
  const file = restoreMarkFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    // The restore ended while it wrote its mark, and had written nothing else.
    return undefined;
  }
}

/** Makes the folder empty but for its mark, and locks it. Refuses one that has files of anything else, or that another restore fills. */
async function prepareFolder(dataDir: string, mark: RestoreMark): Promise<() => void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const before = await readRestoreMark(dataDir);
  const file = restoreMarkFile(dataDir);
  const isEmpty = async () => (await readdir(dataDir)).every((name) => name === basename(file));
  if (before === undefined && !(await isEmpty())) throw notEmpty(dataDir);
  if (before !== undefined && (before.backup !== mark.backup || before.at !== mark.at)) {
    const started = `${before.backup}${before.at === null ? "" : ` to ${before.at}`}`;
    throw refuse(`${dataDir} holds an interrupted restore of ${started}: repeat that one, or choose a new folder.`);
  }
  if (before === undefined) await writeFile(file, JSON.stringify(mark), { flush: true });
  const unlock = lockEmbedded(dataDir);
  try {
    // The restore that had the lock may have ended meanwhile.
    if (!existsSync(file)) throw notEmpty(dataDir);
    await removeEmbedded(dataDir);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

function notEmpty(dataDir: string): Error {
  return refuse(`${dataDir} is not empty: choose a new folder.`);
}

async function writeCluster(target: BackupTarget, { backup, dataDir }: RestoreRequest): Promise<number> {
  const cluster = join(dataDir, "postgres", "cluster");
  await mkdir(cluster, { mode: 0o700 });
  return readCluster(target, backup, {
    folder: async (path) => void (await mkdir(join(cluster, path), { recursive: true, mode: 0o700 })),
    file: (path, content) => pipeline(Readable.from(content), createWriteStream(join(cluster, path), { mode: 0o600 })),
  });
}

/** Writes the archived log, up to the first file that was written after the time to restore. */
async function writeLog(target: BackupTarget, { backup, at, dataDir }: RestoreRequest): Promise<number> {
  const { systemId, timeline } = backup.manifest;
  const folder = walFolder(systemId, timeline);
  const write = async (name: string, content: Buffer) => {
    await writeFile(join(logFolder(dataDir), name), content, { mode: 0o600 });
    // It is in the archive already.
    await writeFile(join(logFolder(dataDir), "archive_status", `${name}.done`), "", { mode: 0o600 });
  };
  await mkdir(join(logFolder(dataDir), "archive_status"), { recursive: true, mode: 0o700 });
  // With the histories of all timelines, the restored server begins one that nobody else has.
  for await (const { key } of target.list(`wal/${systemId}/`)) {
    const name = key.slice(key.lastIndexOf("/") + 1);
    if (name.endsWith(".history")) await write(name, await target.read(key));
  }
  let written = 0;
  for (const name of backup.segments) {
    await write(name, await target.read(folder + name));
    written++;
    const { timeMs } = (await target.readHeader(folder + name))!;
    if (at !== undefined && timeMs > at.getTime() + slackMs) break;
  }
  return written;
}

/** The time of a file of the log is no older than its last change, by the resolution of file times. */
const slackMs = 1000;

async function writeKeys(target: BackupTarget, { backup, dataDir }: RestoreRequest): Promise<void> {
  const keys: Record<string, string> = JSON.parse((await target.read(keysName(backup.manifest.id))).toString());
  for (const [name, content] of Object.entries(keys)) {
    if (!/^[\w-]+\.key$/.test(name)) throw refuse(`The backup is damaged: ${name} is not the name of a key.`);
    await writeFile(join(dataDir, name), content, { mode: 0o600, flush: true });
  }
}

/** PostgreSQL's reason when nothing was committed after the time to restore, so that it saw no end of its work. */
const targetNotReached = "recovery ended before configured recovery target was reached";

/** Lets PostgreSQL repeat the log, up to the time, and begin a timeline of its own. */
async function recover({ backup, at, dataDir }: RestoreRequest): Promise<Embedded> {
  await writeFile(join(dataDir, "postgres", "cluster", "recovery.signal"), "", { mode: 0o600 });
  const settings = {
    // The log is where PostgreSQL looks last.
    restore_command: "false",
    recovery_target_timeline: String(backup.manifest.timeline),
    recovery_target_action: "promote",
    hot_standby: "off",
    // The history of the new timeline is for the archive.
    archive_mode: "on",
  };
  const start = (more: Readonly<Record<string, string>> = {}) =>
    startEmbedded({ dataDir, isRestoring: true, settings: { ...settings, ...more } });
  if (at === undefined) return start();
  try {
    return await start({ recovery_target_time: at.toISOString().replace("Z", "+00") });
  } catch (error) {
    if (!(error as Error).message.includes(targetNotReached)) throw error;
    return start();
  }
}

async function writeObjects(target: BackupTarget, request: RestoreRequest, keys: readonly string[]) {
  const { backup, dataDir, objectsDir } = request;
  const store = createFileStore(objectsDir ?? join(dataDir, "objects"));
  const folder = objectFolder(backup.manifest.systemId, backup.manifest.key);
  const missingObjects: string[] = [];
  let objects = 0;
  for (const key of keys) {
    if ((await target.readHeader(folder + key)) === undefined) {
      missingObjects.push(key);
      continue;
    }
    const content = await target.read(folder + key);
    const expected: ExpectedBody = { sizeBytes: content.length, sha256: await sha256Of(content) };
    await store.put(key, Readable.from([content]), expected, new AbortController().signal);
    objects++;
  }
  return { objects, missingObjects };
}

async function synchronize(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}

function refuse(reason: string): Error {
  return fail("FAILED_PRECONDITION", { public: reason });
}
