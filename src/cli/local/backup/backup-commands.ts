import { existsSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../app/version.ts";
import {
  type Backup,
  createBackup,
  createObjectCopies,
  readArchiveState,
  readCatalog,
  removeExpiredBackups,
} from "../../../platform/backup/index.ts";
import { openReplication } from "../../../platform/db/sql/replication.ts";
import { openObjectStore } from "../../../platform/objects/index.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Io } from "../../io.ts";
import { tableText } from "../../output/table.ts";
import { withRunningDatabase } from "../database-access.ts";
import type { SettingsOptions } from "../settings-options.ts";
import { withBackupTarget } from "./configured-target.ts";

/** Creates a backup of the embedded database, running or not, and removes expired ones. */
export function createBackupCommand(io: Io, options: SettingsOptions): Promise<number> {
  return withBackupTarget(io, options, "create a backup", async (target, config) => {
    const dataDir = config["data.dir"];
    if (!existsSync(join(dataDir, "postgres", "cluster")))
      throw new CliError(`data.dir: ${dataDir} has no database.`, exitCodes.configuration);
    const manifest = await withRunningDatabase(config, async (url) => {
      const server = await openReplication(url);
      const { systemId } = await server.identify().finally(server.close);
      const isInFiles = config["objects.backend"] === "file";
      const objects = isInFiles ? createObjectCopies(openObjectStore(config, Date.now), target, systemId) : undefined;
      return createBackup({ url, dataDir, objects, version, now: Date.now }, target, new AbortController().signal);
    });
    const { id, bytes, storedBytes, key } = manifest;
    const encrypted = key === undefined ? "not encrypted" : `encrypted with the key ${key}`;
    io.out(`Created backup ${id}: ${sizeText(bytes)}, stored as ${sizeText(storedBytes)}, ${encrypted}.\n`);
    const removed = await removeExpiredBackups(target, config["backup.keep_days"], Date.now());
    if (removed.length > 0) io.out(`Removed expired backups: ${removed.join(", ")}.\n`);
    return exitCodes.ok;
  });
}

/** Lists the backups, and how far behind the archive may be. */
export function listBackupsCommand(io: Io, options: SettingsOptions & { json?: boolean }): Promise<number> {
  return withBackupTarget(io, options, "list the backups", async (target, config) => {
    const { backups, damaged } = await readCatalog(target);
    const state = readArchiveState(config["data.dir"]);
    const exposureS = config["backup.archive_timeout_s"];
    if (options.json) {
      const shown = backups.map(({ manifest, segments, until, missing }) => {
        return { ...manifest, restorableUntil: until.toISOString(), segments: segments.length, missing };
      });
      io.out(`${JSON.stringify({ backups: shown, damaged, archive: state, archiveTimeoutS: exposureS })}\n`);
      return exitCodes.ok;
    }
    const headings = ["id", "restorable from", "restorable until", "size", "stored", "key"];
    io.out(backups.length === 0 ? "no backups\n" : `${tableText(headings, backups.map(rowOf), io.columns)}\n`);
    for (const id of damaged) io.out(`The backup ${id} is damaged: its manifest cannot be read.\n`);
    io.out(
      state === undefined
        ? "The log is not archived: the service of data.dir does not run with these settings.\n"
        : `The log is archived at the latest ${exposureS} s after it was written; archived until ${state.archivedUntil ?? "the newest backup"}.\n`,
    );
    for (const failure of [state?.failure, state?.backupFailure])
      if (failure !== undefined) io.out(`The last attempt failed: ${failure}\n`);
    return exitCodes.ok;
  });
}

function rowOf({ manifest, until, missing }: Backup): string[] {
  const { id, endedAt, bytes, storedBytes, key } = manifest;
  const end = `${until.toISOString()}${missing === undefined ? "" : " (gap)"}`;
  return [id, endedAt, end, sizeText(bytes), sizeText(storedBytes), key ?? "none"];
}

function sizeText(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
