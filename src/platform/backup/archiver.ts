import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { logFolder, markAsArchived, readyForArchive, removeReadyMark } from "../db/embedded/wal-archiving.ts";
import { openReplication } from "../db/sql/replication.ts";
import { createRepeatedTask } from "../jobs/repeated-task.ts";
import type { Log } from "../log/log.ts";
import type { ObjectStore } from "../objects/index.ts";
import { readArchiveState, updateArchiveState } from "./archive-state.ts";
import type { BackupTarget } from "./backup-target.ts";
import { readBackups, removeExpiredBackups } from "./catalog.ts";
import { createBackup } from "./create-backup.ts";
import { createObjectCopies } from "./object-copies.ts";
import { isSegment, nameOfSegment, segmentBefore, walFolder } from "./wal-segment.ts";

/** What the owner of the embedded server archives, and how often it takes a backup. */
export interface ArchiverOptions {
  readonly url: string;
  readonly dataDir: string;
  readonly target: BackupTarget;
  /** Where large objects are, if they are in files. */
  readonly objects: ObjectStore | undefined;
  readonly version: string;
  readonly intervalMs: number;
  readonly keepDays: number;
  readonly now: () => number;
  readonly log: Log;
}

/** Archives the log of the embedded server, and takes backups when they are due. */
export interface Archiver {
  /** Archives every complete file of the log. */
  archive(): Promise<void>;
  /** Ends the backup in progress. Resolves when nothing runs. */
  stop(): Promise<void>;
}

const pollMs = 1000;
/** How soon a backup that failed is tried again. */
const backupRetryMs = 60_000;
/** How often the store is read to learn whether a backup is due. */
const backupCheckMs = 3_600_000;

/** Starts to archive. Both loops report their failures in the archive state, and go on. */
export async function startArchiver(options: ArchiverOptions): Promise<Archiver> {
  const { url, dataDir, target, version, now, log } = options;
  const server = await openReplication(url);
  const { systemId, timeline } = await server.identify().finally(() => server.close());
  const objects = options.objects && createObjectCopies(options.objects, target, systemId);
  const stopping = new AbortController();

  /** Undefined for a file that does not exist. */
  const writtenAtMsOf = (name: string) => statSync(join(logFolder(dataDir), name), { throwIfNoEntry: false })?.mtimeMs;

  async function archive(): Promise<void> {
    const names = readyForArchive(dataDir).sort(byHistoryFirst);
    const oldestMs = names[0] && writtenAtMsOf(names[0]);
    // Before anything that may fail.
    if (oldestMs) updateArchiveState(dataDir, { waitingSince: new Date(oldestMs).toISOString() });
    // Before the log: every object that its rows refer to is there.
    if (names.length > 0) await objects?.copyNew();
    for (const name of names) {
      const writtenAtMs = writtenAtMsOf(name);
      if (writtenAtMs === undefined) {
        // After a power failure, a file that was archived and removed may be marked as ready again.
        removeReadyMark(dataDir, name);
        continue;
      }
      await archiveFile(options, systemId, name, writtenAtMs);
      markAsArchived(dataDir, name);
      if (isSegment(name)) updateArchiveState(dataDir, { archivedUntil: new Date(writtenAtMs).toISOString() });
    }
    updateArchiveState(dataDir, { waitingSince: undefined, failure: undefined });
  }

  /** Whether a backup is due: the last one is old, has another key, or is followed by a gap in the log. */
  async function isBackupDue(): Promise<boolean> {
    const own = (await readBackups(target)).filter(({ manifest }) => manifest.systemId === systemId);
    const newest = own.findLast(({ manifest }) => manifest.timeline === timeline);
    updateArchiveState(dataDir, { lastBackupAt: newest?.manifest.endedAt });
    if (newest === undefined || newest.missing !== undefined || newest.manifest.key !== target.key) return true;
    if (now() - Date.parse(newest.manifest.startedAt) >= options.intervalMs) return true;
    const next = segmentBefore(newest.manifest.endLsn) + BigInt(newest.segments.length) + 1n;
    if (existsSync(join(logFolder(dataDir), nameOfSegment(timeline, next)))) return false;
    // It may have been archived since the store was read.
    return (await target.readHeader(walFolder(systemId, timeline) + nameOfSegment(timeline, next))) === undefined;
  }

  let checkAtMs = 0;
  async function backUpWhenDue(): Promise<void> {
    if (now() < checkAtMs) return;
    if (await isBackupDue()) await backUp();
    updateArchiveState(dataDir, { backupFailure: undefined });
    checkAtMs = now() + Math.min(backupCheckMs, options.intervalMs);
  }

  async function backUp(): Promise<void> {
    const source = { url, dataDir, objects, version, now };
    const { id, bytes, storedBytes, endedAt } = await createBackup(source, target, stopping.signal);
    updateArchiveState(dataDir, { lastBackupAt: endedAt });
    log.info({ backup: id, bytes, storedBytes }, "a backup was created");
    const removed = await removeExpiredBackups(target, options.keepDays, now());
    if (removed.length > 0) log.info({ backups: removed }, "expired backups were removed");
  }

  const onError = (property: "failure" | "backupFailure", what: string) => (error: unknown) => {
    if (stopping.signal.aborted) return;
    const reason = (error as Error).message;
    if (readArchiveState(dataDir)?.[property] !== reason) log.error({ err: error }, what);
    updateArchiveState(dataDir, { [property]: reason });
  };
  const archiving = createRepeatedTask({
    work: archive,
    maxWaitMs: pollMs,
    onError: onError("failure", "the log was not archived"),
  });
  const backingUp = createRepeatedTask({
    work: backUpWhenDue,
    maxWaitMs: backupRetryMs,
    onError: onError("backupFailure", "the backup was not created"),
  });
  void archiving.start();
  void backingUp.start();
  return {
    archive,
    async stop() {
      stopping.abort();
      await Promise.all([archiving.stop(), backingUp.stop()]);
    },
  };
}

/** A timeline's history comes before its segments. */
function byHistoryFirst(a: string, b: string): number {
  return Number(isSegment(a)) - Number(isSegment(b)) || (a < b ? -1 : 1);
}

async function archiveFile(
  { dataDir, target }: ArchiverOptions,
  systemId: string,
  name: string,
  writtenAtMs: number,
): Promise<void> {
  // A note about a base backup, which has its own. The end of a timeline that a restore has left, which begins the next one.
  if (/\.(backup|partial)$/.test(name)) return;
  const timeline = Number.parseInt(name.slice(0, 8), 16);
  const content = await readFile(join(logFolder(dataDir), name));
  await target.writeOnce(walFolder(systemId, timeline) + name, content, writtenAtMs);
}
