import type { Command } from "commander";
import { commandEntries } from "../../../gen/commands.ts";
import type { Io } from "../io.ts";
import { pluralOf } from "./operation-names.ts";

/**
 * Adds a command for every operation in the definitions. Two operations with the same command name are an error.
 *
 * Only commands whose first word is `wanted` are complete, because reading all definitions takes most of the time of a
 * short command. The others have only what the list of commands shows.
 */
export async function addOperationCommands(
  program: Command,
  io: Io,
  end: (exitCode: number) => void,
  wanted: (word: string) => boolean,
): Promise<void> {
  for (const entry of commandEntries) {
    const { word, description, isGroup, verbs } = entry;
    const known = isGroup ? program.commands.find((each) => each.name() === word) : undefined;
    const first = known ?? program.command(word).description(description);
    if (isGroup && known === undefined) first.alias(pluralOf(word)).helpCommand(false);
    if (!wanted(word) && !(isGroup && wanted(pluralOf(word)))) continue;
    const { completeCommand, operationsOf } = await import("./operation-command.ts");
    for (const operation of await operationsOf(entry)) {
      const command = isGroup ? first.command(verbs[operation.id]!) : first;
      completeCommand(program, command, operation, io, end);
    }
  }
}
