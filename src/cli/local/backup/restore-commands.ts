import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "../../../config/index.ts";
import { findStoredObjectKeys } from "../../../modules/workflows/index.ts";
import {
  type Backup,
  type BackupTarget,
  readBackups,
  readRestoreMark,
  restoreBackup,
  verifyBackup,
} from "../../../platform/backup/index.ts";
import { openDatabase, type Sql } from "../../../platform/db/index.ts";
import { readTables } from "../../../platform/db/move/stored-tables.ts";
import { CliError, exitCodes, usageError } from "../../exit-codes.ts";
import type { Io } from "../../io.ts";
import type { SettingsOptions } from "../settings-options.ts";
import { withBackupTarget } from "./configured-target.ts";

/** The options of `service backup restore` besides the settings. */
export interface RestoreOptions extends SettingsOptions {
  readonly to: string;
  readonly at?: string;
  readonly backup?: string;
}

/** Reads a backup to its end, and starts it if wanted. */
export function verifyBackupCommand(
  io: Io,
  id: string | undefined,
  options: SettingsOptions & { start?: boolean },
): Promise<number> {
  return withBackupTarget(io, options, "verify the backup", async (target, config) => {
    const backup = await chooseBackup(target, { backup: id });
    const { files, segments, objects } = await verifyBackup(target, backup);
    const name = backup.manifest.id;
    io.out(`${name}: ${files} files, ${segments} files of the log and ${objects} objects are as they were stored.\n`);
    if (backup.missing !== undefined) {
      throw new CliError(
        `The log has a gap: ${backup.missing} is missing. Times after ${backup.until.toISOString()} need a later backup.`,
        exitCodes.failed,
      );
    }
    if (options.start) io.out(`${name}: ${await startCopy(target, backup, config)}\n`);
    return exitCodes.ok;
  });
}

/** Restores a backup to a temporary folder, counts its rows, and removes it. */
async function startCopy(target: BackupTarget, backup: Backup, config: Config): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "switchyard-verify-"));
  let rows = 0;
  let tables = 0;
  try {
    const request = { ...requestOf(backup, undefined, join(parent, "data"), config), objectsDir: undefined };
    const { missingObjects } = await restoreBackup(target, request, (url) =>
      withSql(url, async (sql) => {
        for (const { name } of await readTables(sql)) {
          const [row] = await sql<{ count: number }[]>`select count(*)::float8 as count from ${sql(name)}`;
          rows += row!.count;
          tables++;
        }
      }),
    );
    requireObjects(missingObjects);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
  return `a copy of it starts, with ${rows.toLocaleString("en")} rows in ${tables} tables.`;
}

/** Restores a backup to a new data folder, and says how to start it. */
export function restoreBackupCommand(io: Io, options: RestoreOptions): Promise<number> {
  const at = options.at === undefined ? undefined : new Date(options.at);
  if (at !== undefined && (Number.isNaN(at.getTime()) || !/(Z|[+-]\d\d:?\d\d)$/.test(options.at!)))
    throw usageError(`--at ${options.at}: must be a time with its zone (for example: 2027-01-31T08:00:00Z)`);
  return withBackupTarget(io, options, "restore the backup", async (target, config) => {
    const dataDir = resolve(options.to);
    const interrupted = await readRestoreMark(dataDir);
    const backup = await chooseBackup(target, { backup: options.backup ?? interrupted?.backup, at });
    const report = await restoreBackup(target, requestOf(backup, at, dataDir, config));
    const until = at ?? backup.until;
    io.out(`Restored backup ${backup.manifest.id} to ${dataDir}, as it was at ${until.toISOString()}: `);
    io.out(`${report.files} files, ${report.segments} files of the log, ${report.objects} objects.\n`);
    requireObjects(report.missingObjects);
    io.out(`Start it: service serve --set data.dir=${dataDir}\n`);
    return exitCodes.ok;
  });
}

function requireObjects(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new CliError(
    `${missing.length} objects of streams are not in the backup, for example ${missing[0]}. Everything else was restored.`,
    exitCodes.failed,
  );
}

function requestOf(backup: Backup, at: Date | undefined, dataDir: string, config: Config) {
  const isInFiles = config["objects.backend"] === "file";
  return {
    ...{ backup, at, dataDir, objectsDir: config["objects.file.dir"] || undefined },
    findObjectKeys: async (url: string) => (isInFiles ? withSql(url, findStoredObjectKeys) : []),
  };
}

async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const db = openDatabase(url, { maxConnections: 1, statementMs: 3_600_000, applicationName: "switchyard backup" });
  try {
    return await work(db.sql);
  } finally {
    await db.close();
  }
}

/** The backup of an id, or the last one from which a time can be restored. */
async function chooseBackup(
  target: BackupTarget,
  { backup: id, at }: { readonly backup: string | undefined; readonly at?: Date | undefined },
): Promise<Backup> {
  const backups = await readBackups(target);
  const named = id === undefined ? backups : backups.filter(({ manifest }) => manifest.id === id);
  if (named.length === 0)
    throw new CliError(id ? `There is no backup ${id}.` : "There are no backups.", exitCodes.notFound);
  const isRestorable = ({ manifest, until }: Backup) =>
    at === undefined || (Date.parse(manifest.endedAt) <= at.getTime() && at <= until);
  const chosen = named.findLast(isRestorable);
  if (chosen !== undefined) return chosen;
  const ranges = named.map(({ manifest, until }) => `${manifest.endedAt} to ${until.toISOString()}`);
  throw new CliError(`--at: that time cannot be restored. Choose one from ${ranges.join(", or ")}.`, exitCodes.usage);
}
