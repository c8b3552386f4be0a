import type { Config } from "../../../config/index.ts";
import { reasonOf } from "../../../errors/index.ts";
import { type BackupTarget, createBackupTarget } from "../../../platform/backup/index.ts";
import { openBackupStore } from "../../../platform/objects/index.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Io } from "../../io.ts";
import { resolveSettings, type SettingsOptions } from "../settings-options.ts";

/** Runs work on the backup store of the settings. `what` says in an error what was not possible. */
export async function withBackupTarget<T>(
  io: Io,
  options: SettingsOptions,
  what: string,
  work: (target: BackupTarget, config: Config) => Promise<T>,
): Promise<T> {
  const { config } = await resolveSettings(io, options);
  const store = openBackupStore(config, Date.now);
  if (store === undefined) {
    throw new CliError(
      "backup.backend: is none. Set it to file or s3, with the place of the backups (for example: --set backup.backend=file --set backup.file.dir=/mnt/backup)",
      exitCodes.configuration,
    );
  }
  const target = createBackupTarget(store, config["backup.encryption_key"]);
  try {
    return await work(target, config);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot ${what}: ${reasonOf(error)}`, exitCodes.failed, { cause: error });
  } finally {
    target.close();
  }
}
