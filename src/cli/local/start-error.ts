import type { LoadedConfig } from "../../config/index.ts";
import { ConfigError } from "../../config/index.ts";
import { reasonOf } from "../../errors/index.ts";
import { VersionError } from "../../platform/db/schema-version.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { isInUse } from "./database-access.ts";

/** Explains why a start failed, with a stack trace if `log.level=debug`. */
export function startError(error: unknown, { config }: Pick<LoadedConfig, "config">): CliError {
  const debug = config["log.level"] === "debug" && error instanceof Error && error.stack !== undefined;
  const trace = debug ? `\n${error.stack}${causeOf(error)}` : "";
  if (error instanceof ConfigError) return new CliError(error.message, exitCodes.configuration, { cause: error });
  if (error instanceof VersionError) return new CliError(error.message, exitCodes.incompatible, { cause: error });
  const hint = isInUse(error) ? " Stop that process, or choose another folder: --set data.dir=<folder>" : "";
  return new CliError(`Cannot start: ${reasonOf(error)}${hint}${trace}`, exitCodes.failed, { cause: error });
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `\nCaused by: ${cause.stack ?? cause.message}` : "";
}
