import type { LoadedConfig } from "../../config/index.ts";
import { ConfigError } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";

/** Says why something could not start: the message alone, and with `log.level=debug` where it came from. */
export function startError(error: unknown, { config }: LoadedConfig): CliError {
  const debug = config["log.level"] === "debug" && error instanceof Error && error.stack !== undefined;
  const trace = debug ? `\n${error.stack}${causeOf(error)}` : "";
  if (error instanceof ConfigError) return new CliError(error.message, exitCodes.configuration, { cause: error });
  return new CliError(`Cannot start: ${reasonOf(error)}${trace}`, exitCodes.failed, { cause: error });
}

/** What went wrong, in words; connections that failed in several ways at once say the first. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `\nCaused by: ${cause.stack ?? cause.message}` : "";
}
