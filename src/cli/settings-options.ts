import type { Command } from "commander";
import type { LoadedConfig } from "../config/index.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import type { Io } from "./io.ts";

/** Where a command takes the settings from, besides the environment. */
export interface SettingsOptions {
  readonly config?: string;
  readonly set?: readonly string[];
}

/** Adds the options that say where settings come from. */
export function withSettings(command: Command): Command {
  return command
    .option("--config <file>", "A YAML file with settings.")
    .option("--set <key=value>", "Set one setting. Repeatable.", (pair: string, before: string[] = []) => [
      ...before,
      pair,
    ]);
}

/** Resolves the settings; a wrong one ends the command with the exit code for it. */
export async function resolveSettings({ env }: Io, { config, set }: SettingsOptions): Promise<LoadedConfig> {
  const { ConfigError, loadConfig } = await import("../config/index.ts");
  try {
    return loadConfig({ file: config, environment: env, overrides: set });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(error.message.replaceAll(/\s*\n\s*/g, " "), exitCodes.configuration, { cause: error });
  }
}
