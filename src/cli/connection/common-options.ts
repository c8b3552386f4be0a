import { InvalidArgumentError, Option } from "commander";
import type { FormOptions } from "../output/response-text.ts";
import type { RetryPolicy } from "./client.ts";
import type { ConnectionOptions } from "./connection.ts";

/** Options of every operation. */
export interface CommonOptions extends ConnectionOptions, FormOptions {
  /** The only field of the response to print. */
  readonly field?: string;
  readonly verbose?: boolean;
  readonly retries?: number;
  readonly timeout?: number;
}

/** Creates the options of every operation. They are accepted before and after the command. */
export function commonOptions(): Option[] {
  return [
    new Option("--profile <name>", "Profile to use (SWITCHYARD_PROFILE)."),
    new Option("--address <url>", "Base URL of the service (SWITCHYARD_ADDRESS)."),
    new Option("--key <key>", "API key or token; @file reads a file, - reads stdin (SWITCHYARD_KEY)."),
    new Option("--plane <plane>", "Plane of the address.").choices(["external", "internal"]),
    new Option("--json", "Print the JSON response; the default if stdout is not a terminal.").conflicts([
      "table",
      "wide",
    ]),
    new Option("--table", "Print a table; the default on a terminal."),
    new Option("--wide", "Print a table with all columns in full width."),
    new Option("--field <path>", "Print only this field of the response (for example: items.0.lease_token)."),
    new Option("--verbose", "Log requests and responses to stderr."),
    new Option("--retries <number>", "Maximum number of retries (default: 3).").argParser(whole(0, 20)),
    new Option("--timeout <seconds>", "Timeout of each attempt (default: 60).").argParser(whole(1, 3600)),
  ];
}

/** Converts the options to a retry policy, with defaults. */
export function toRetryPolicy({ retries = 3, timeout = 60 }: CommonOptions): RetryPolicy {
  return { retries, timeoutS: timeout };
}

function whole(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`);
  };
}
