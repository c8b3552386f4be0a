import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import type { LoadedConfig } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Where a command takes the settings from, besides the environment. */
export interface SettingsOptions {
  readonly config?: string;
  readonly set?: readonly string[];
}

/** Adds the options that say where settings come from. */
export function withSettings(command: Command): Command {
  return command
    .option("--config <file>", "A YAML file with settings (config/development.yaml unless the environment has some).")
    .option("--set <key=value>", "Set one setting. Repeatable.", (pair: string, before: string[] = []) => [
      ...before,
      pair,
    ]);
}

/** Resolves the settings; wrong ones end the command with the exit code for it, and all of them are named. */
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

/** Settings that are wrong, each as "key: why". */
export class SettingsError extends CliError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    const lines = problems.map((each) => each.replaceAll(/\s*\n\s*/g, " "));
    const [only, ...others] = lines;
    const heading = `${lines.length} settings are wrong:`;
    super(others.length === 0 ? only! : [heading, ...lines].join("\n  "), exitCodes.configuration, options);
    this.problems = lines;
  }
}

/** The settings of `npm start`. */
const developmentFile = fileURLToPath(new URL("../../../config/development.yaml", import.meta.url));

/**
 * Whether somebody has configured this node without a file: through the environment, or with a database of their own.
 * Such a node must not silently get the settings that suit a developer's machine.
 */
function isDeployment(env: Io["env"], { set = [] }: SettingsOptions): boolean {
  return (
    Object.keys(env).some((name) => name.startsWith("SERVICE_")) || set.some((pair) => /^database\.url=/.test(pair))
  );
}
