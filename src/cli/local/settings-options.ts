import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import type { LoadedConfig } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** The sources of settings on the command line. */
export interface SettingsOptions {
  readonly config?: string;
  readonly set?: readonly string[];
}

/** Adds the options for settings to a command. */
export function withSettings(command: Command): Command {
  return command
    .option(
      "--config <file>",
      "YAML settings file (default: config/development.yaml, unless SERVICE_ variables are set).",
    )
    .option("--set <key=value>", "Override a setting; can be repeated.", (pair: string, before: string[] = []) => [
      ...before,
      pair,
    ]);
}

/** Resolves the settings. Invalid settings end the command with an error that lists all of them. */
export async function resolveSettings({ env }: Io, options: SettingsOptions): Promise<LoadedConfig> {
  const { ConfigError, loadConfig } = await import("../../config/index.ts");
  const file = options.config ?? (isDeployment(env, options) ? undefined : developmentFile);
  try {
    return loadConfig({ file, environment: env, overrides: options.set });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new SettingsError(error.problems, { cause: error });
  }
}

/** The error of invalid settings, each as "key: reason". */
export class SettingsError extends CliError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    const lines = problems.map((each) => each.replaceAll(/\s*\n\s*/g, " "));
    const [only, ...others] = lines;
    const heading = `${lines.length} settings are invalid:`;
    super(others.length === 0 ? only! : [heading, ...lines].join("\n  "), exitCodes.configuration, options);
    this.problems = lines;
  }
}

/** The settings of `npm start`. */
const developmentFile = fileURLToPath(new URL("../../../config/development.yaml", import.meta.url));

/**
 * Whether the node is configured without a file: by environment variables, or with an external database. Such a node must
 * not silently get the development settings.
 */
function isDeployment(env: Io["env"], { set = [] }: SettingsOptions): boolean {
  return (
    Object.keys(env).some((name) => name.startsWith("SERVICE_")) || set.some((pair) => /^database\.url=/.test(pair))
  );
}
