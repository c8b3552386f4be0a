import type { Command } from "commander";
import type { Io } from "../../io.ts";
import { type SettingsOptions, withSettings } from "../settings-options.ts";
import type { RestoreOptions } from "./restore-commands.ts";

/** Adds the commands that create, list, verify and restore backups. */
export function addBackupCommands(backup: Command, io: Io, end: (exitCode: number) => void): void {
  withSettings(backup.command("create"))
    .description("Create a backup now. The service may run, and goes on.")
    .action(async (options: SettingsOptions) => {
      const { createBackupCommand } = await import("./backup-commands.ts");
      end(await createBackupCommand(io, options));
    });
  withSettings(backup.command("list"))
    .description("List the backups, with the times that can be restored.")
    .option("--json", "Print JSON.")
    .action(async (options: SettingsOptions & { json?: boolean }) => {
      const { listBackupsCommand } = await import("./backup-commands.ts");
      end(await listBackupsCommand(io, options));
    });
  withSettings(backup.command("verify"))
    .description("Read a backup and its log to the end, and check every digest.")
    .argument("[id]", "Id of the backup (default: the newest).")
    .option("--start", "Also restore it to a temporary folder, start it, and count its rows.")
    .action(async (id: string | undefined, options: SettingsOptions & { start?: boolean }) => {
      const { verifyBackupCommand } = await import("./restore-commands.ts");
      end(await verifyBackupCommand(io, id, options));
    });
  withSettings(backup.command("restore"))
    .description("Restore a backup to a new data folder. Run it again if it was interrupted.")
    .requiredOption("--to <folder>", "Path of the new data folder. Required.")
    .option("--at <time>", "Time to restore, for example 2027-01-31T08:00:00Z (default: the end of the archive).")
    .option("--backup <id>", "Id of the backup to start from (default: the last one before the time).")
    .action(async (options: RestoreOptions) => {
      const { restoreBackupCommand } = await import("./restore-commands.ts");
      end(await restoreBackupCommand(io, options));
    });
}
