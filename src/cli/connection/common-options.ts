import { InvalidArgumentError, Option } from "commander";
import type { FormOptions } from "../output/response-text.ts";
import type { Patience } from "./client.ts";
import type { ConnectionOptions } from "./connection.ts";

/** Options that every operation takes. */
export interface CommonOptions extends ConnectionOptions, FormOptions {
  /** The one field of the answer to print. */
  readonly field?: string;
  readonly verbose?: boolean;
  readonly retries?: number;
  readonly timeout?: number;
}

/** Makes the options that every operation takes, before its command or after. */
export function commonOptions(): Option[] {
  return [
    new Option("--profile <name>", "Use this profile."),
    new Option("--address <url>", "Where the service is (SWITCHYARD_ADDRESS)."),
    new Option("--key <key>", "An API key or token; @file or - reads it (SWITCHYARD_KEY)."),
    new Option("--plane <plane>", "Which plane the address is of.").choices(["external", "internal"]),
    new Option("--json", "Print the exact answer; the default unless at a terminal.").conflicts(["table", "wide"]),
    new Option("--table", "Print for people; the default at a terminal."),
    new Option("--wide", "Print for people, with every column in full width."),
    new Option("--field <path>", "Print only this field of the answer: id, items.0.lease_token."),
    new Option("--verbose", "Tell on standard error what is sent and answered."),
    new Option("--retries <number>", "Repeats of a call that may succeed later (3).").argParser(whole(0, 20)),
    new Option("--timeout <seconds>", "How long one try may take (60).").argParser(whole(1, 3600)),
  ];
}

/** How patient a call is unless told otherwise. */
export function patienceOf({ retries = 3, timeout = 60 }: CommonOptions): Patience {
  return { retries, timeoutS: timeout };
}

function whole(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}
