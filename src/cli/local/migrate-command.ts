import { release } from "../../app/version.ts";
import { reasonOf } from "../../errors/index.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { VersionError } from "../../platform/db/schema-version.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { isInUse, migrationsFolder, withDatabaseUrl } from "./database-access.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";

/** Applies pending schema migrations and prints their names. */
export async function migrateCommand(io: Io, options: SettingsOptions): Promise<number> {
  const { config } = await resolveSettings(io, options);
  const { applied } = await withDatabaseUrl(config, (url) =>
    migrate(url, migrationsFolder, {
      release,
      onBlocked: (name) => io.err(`service: ${name} waits for transactions that use its tables\n`),
    }),
  ).catch((error) => {
    if (error instanceof VersionError) throw new CliError(error.message, exitCodes.incompatible, { cause: error });
    const hint = isInUse(error) ? " The service migrates the schema at every start." : "";
    throw new CliError(`Cannot migrate: ${reasonOf(error)}${hint}`, exitCodes.failed, { cause: error });
  });
  for (const name of applied) io.out(`applied ${name}\n`);
  io.out(applied.length === 0 ? "The schema is already up to date.\n" : "The schema is up to date.\n");
  return exitCodes.ok;
}
