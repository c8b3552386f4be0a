import { join } from "node:path";
import { release } from "../../app/version.ts";
import type { Config } from "../../config/index.ts";
import { reasonOf } from "../../errors/index.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { moveDatabase } from "../../platform/db/move/move.ts";
import { shownUrl } from "../../platform/db/move/moved-mark.ts";
import { repairDatabase } from "../../platform/db/move/repair.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { isInUse, migrationsFolder, withDatabaseUrl } from "./database-access.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";

/** Moves the database to another PostgreSQL, and prints which settings to change. */
export async function moveDatabaseCommand(io: Io, options: SettingsOptions & { to: string }): Promise<number> {
  const { config } = await resolveSettings(io, options);
  const { to } = options;
  const { tables, rows, isResumed } = await withDatabaseUrl(config, (from) =>
    moveDatabase({ from, to, migrations: migrationsFolder, release, now: new Date() }),
  ).catch((error) => refusal("move the database", error));
  const what = `${rows.toLocaleString("en")} rows of ${tables} tables`;
  io.out(
    isResumed
      ? `${what} were already there and are the same: the interrupted move is complete.\n`
      : `Moved ${what} to ${shownUrl(to)}. Counts and digests agree.\n`,
  );
  io.out("Nodes no longer start on the old database. Set on every node, and start:\n");
  for (const line of settingsToChange(config)) io.out(`  ${line}\n`);
  return exitCodes.ok;
}

/** Repairs the database after its rows were restored, and prints what was done. */
export async function repairDatabaseCommand(io: Io, options: SettingsOptions): Promise<number> {
  const { config } = await resolveSettings(io, options);
  const report = await withDatabaseUrl(config, async (url) => {
    await migrate(url, migrationsFolder, { release });
    return repairDatabase(url);
  }).catch((error) => refusal("repair the database", error));
  io.out(
    report.isEraRaised
      ? "order of events: the rows came from another server; it continues after them\n"
      : "order of events: continues\n",
  );
  io.out(`sequences: ${report.sequences.length === 0 ? "complete" : `raised ${report.sequences.join(", ")}`}\n`);
  io.out(`partitions: ${report.partitions.length === 0 ? "complete" : `created ${report.partitions.join(", ")}`}\n`);
  return exitCodes.ok;
}

function settingsToChange(config: Config): string[] {
  const isKeyInFile = config["database.url"] === "" && config["connector.encryption_key"] === "";
  return [
    "database.url: the URL that you gave with --to",
    ...(isKeyInFile
      ? [
          `connector.encryption_key: the content of ${join(config["data.dir"], "master.key")}, or secrets cannot be read`,
        ]
      : []),
  ];
}

function refusal(work: string, error: unknown): never {
  const hint = isInUse(error) ? " Stop that process first." : "";
  throw new CliError(`Cannot ${work}: ${reasonOf(error)}${hint}`, exitCodes.failed, { cause: error });
}
