import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The file that says how archiving is doing. While it exists, every start of the server keeps its log for the archive. */
export function archiveStateFile(dataDir: string): string {
  return join(dataDir, "postgres", "archive.json");
}

/** Decides whether this start of the server and later ones keep the log for the archive. */
export function setArchiving(dataDir: string, isArchiving: boolean): void {
  const file = archiveStateFile(dataDir);
  if (!isArchiving) rmSync(file, { force: true });
  else if (!existsSync(file)) writeFileSync(file, "{}", { mode: 0o600 });
}

/**
 * The settings of a server whose log this service archives. Without a command, PostgreSQL marks complete segments as ready and keeps
 * them until they are marked as done, whatever happens to the archiver.
 */
export function archivingSettings(dataDir: string): Readonly<Record<string, string>> {
  return existsSync(archiveStateFile(dataDir)) ? { archive_mode: "on", archive_command: "", archive_library: "" } : {};
}

/** The log of a data folder's server. */
export function logFolder(dataDir: string): string {
  return join(dataDir, "postgres", "cluster", "pg_wal");
}

/** The complete files of the log that were not archived yet, in their order. */
export function readyForArchive(dataDir: string): string[] {
  const names = readdirSync(join(logFolder(dataDir), "archive_status"));
  return names.flatMap((name) => (name.endsWith(".ready") ? name.slice(0, -".ready".length) : [])).sort();
}

/** Forgets that a file of the log is to be archived, which does not exist. */
export function removeReadyMark(dataDir: string, name: string): void {
  rmSync(join(logFolder(dataDir), "archive_status", `${name}.ready`), { force: true });
}

/** Allows PostgreSQL to remove a file of its log. After a crash it may be ready again. */
export function markAsArchived(dataDir: string, name: string): void {
  const status = join(logFolder(dataDir), "archive_status", name);
  renameSync(`${status}.ready`, `${status}.done`);
}
