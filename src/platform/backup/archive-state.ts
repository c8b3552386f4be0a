import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { archiveStateFile } from "../db/embedded/wal-archiving.ts";

/** How archiving is doing. It is a file of the data folder, so that all processes of the machine can read it. */
export interface ArchiveState {
  /** What was acknowledged before this time is in the backup store, once there is a backup. */
  readonly archivedUntil?: string;
  /** The time of the oldest complete file of the log that is not in the backup store. */
  readonly waitingSince?: string;
  /** When the newest backup ended. */
  readonly lastBackupAt?: string;
  /** Why the last attempt to archive failed. */
  readonly failure?: string;
  /** Why the last attempt to create a backup failed. */
  readonly backupFailure?: string;
}

/** Reads the state; undefined while there is no archiving. */
export function readArchiveState(dataDir: string): ArchiveState | undefined {
  const file = archiveStateFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // After a power failure the file may be empty. The archiver fills it again.
    return {};
  }
}

/** Changes the state; a property that is undefined is removed. */
export function updateArchiveState(dataDir: string, change: { [K in keyof ArchiveState]: string | undefined }): void {
  const file = archiveStateFile(dataDir);
  const before = readArchiveState(dataDir);
  const text = JSON.stringify({ ...before, ...change });
  if (text === JSON.stringify(before)) return;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** How long a complete file of the log may wait before archiving counts as stalled. */
const stalledMs = 5 * 60_000;

/** What is late, and why. The reason is for operators: it may name places of the store. */
interface BackupProblem {
  readonly summary: string;
  readonly reason: string | undefined;
}

/** Why the backups of a node fall behind; undefined if they do not. */
export function backupProblem(dataDir: string, nowMs: number): BackupProblem | undefined {
  const { waitingSince, failure, backupFailure } = readArchiveState(dataDir) ?? {};
  if (waitingSince !== undefined && nowMs - Date.parse(waitingSince) >= stalledMs)
    return { summary: `the log is not archived since ${waitingSince}`, reason: failure };
  return backupFailure === undefined
    ? undefined
    : { summary: "the last backup was not created", reason: backupFailure };
}
