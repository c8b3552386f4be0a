import { Command } from "commander";
import { describeBuild, version } from "../app/version.ts";
import { commonOptions } from "./connection/common-options.ts";
import { exitCodesHelp } from "./exit-codes.ts";
import { addHelpCommand } from "./help-command.ts";
import type { Io } from "./io.ts";
import { addLocalCommands } from "./local/local-commands.ts";
import { addOperationCommands } from "./operations/operation-commands.ts";

/** Builds the CLI. `end` gets the exit code of the command that ran. */
export async function createProgram(
  argv: readonly string[],
  io: Io,
  end: (exitCode: number) => void,
): Promise<Command> {
  const program = new Command("service")
    .description("Switchyard, a multi-tenant routing service: run the server, or call a running one.")
    .version(version, "--version", "Print the version.")
    .helpOption("-h, --help", "Show help.")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      getOutHelpWidth: () => Math.min(io.columns, 120),
      getErrHelpWidth: () => Math.min(io.columns, 120),
    })
    .configureHelp({ sortSubcommands: true, subcommandTerm })
    .addHelpText("after", exitCodesHelp);
  program.optionsGroup("Options of all API commands (before or after the command):");
  for (const option of commonOptions()) program.addOption(option);
  program.commandsGroup("Server commands:");
  addHelpCommand(program);
  addLocalCommands(program, io, end);
  program
    .command("version")
    .description("Print the version, its commit and when it was built.")
    .action(() => io.out(`${describeBuild()}\n`));
  program.commandsGroup("API commands, which call a running service (plural nouns work too: service events tail):");
  await addOperationCommands(program, io, end, argv);
  addUsageAfterErrors(program, "");
  return program;
}

/** Has the errors of a command end with its arguments, and with where its options are described. */
function addUsageAfterErrors(command: Command, before: string): void {
  const path = `${before}${command.name()}`;
  const usage = command.createHelp().commandUsage(command);
  command.showHelpAfterError(`Usage: ${usage}\nRun ${path} --help for details.`);
  for (const each of command.commands) addUsageAfterErrors(each, `${path} `);
}

/** The name and arguments of a command in the help. Aliases and `[options]` are omitted. */
function subcommandTerm(command: Command): string {
  const args = command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`));
  return [command.name(), ...args].join(" ");
}
