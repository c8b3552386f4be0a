import { type Command, InvalidArgumentError, Option } from "commander";
import { commonOptions } from "../connection/common-options.ts";
import type { Io } from "../io.ts";
import { withSettings } from "../local/settings-options.ts";
import type { ProveOptions } from "./prove-command.ts";

/** The options of API calls that say where the evidence pack is. */
const connectionOptions = new Set(["--profile", "--address", "--key"]);

/** Adds `service prove`. Its modules are imported on demand for a fast start. */
export function addProveCommand(program: Command, io: Io, end: (exitCode: number) => void): void {
  const prove = withSettings(program.command("prove"))
    .description("Show that the service keeps its promises here, while nodes and connections break.")
    .option("--minutes <number>", "How long to run, in minutes.", positive, 5)
    .option("--nodes <count>", "How many nodes to start and break (2 to 9).", nodeCount, 3)
    .option("--seed <number>", "Chooses what breaks. A run with the same number is similar, not the same.", whole)
    .option("--embedded", "Use a new embedded PostgreSQL instead of the server of the settings.")
    .option(
      "--database-restart [command]",
      "Crash the database server as well: the one of --embedded, or with the command that restarts yours.",
    )
    .option(
      "--evidence-pack <environment/pack>",
      "Add the result to an evidence pack of a running service, as a signed receipt of the type proof.",
    )
    .option("--json", "Print the report as JSON.")
    .option("--clean", "Only remove what runs that were killed have left.")
    .addOption(new Option("--watchdog").hideHelp())
    .action(async (_: unknown, command: Command) => {
      const { proveCommand } = await import("./prove-command.ts");
      end(await proveCommand(io, command.optsWithGlobals<ProveOptions>()));
    });
  for (const option of commonOptions().filter(({ long }) => connectionOptions.has(long!))) prove.addOption(option);
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 10_000)) throw new InvalidArgumentError("Must be a number above 0 (for example: 0.5).");
  return value;
}

function nodeCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 2 || value > 9) {
    throw new InvalidArgumentError("Must be a whole number from 2 to 9.");
  }
  return value;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 31) {
    throw new InvalidArgumentError("Must be a whole number from 0 to 2147483647.");
  }
  return value;
}
