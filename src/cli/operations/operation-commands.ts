import type { Command } from "commander";
import { type CommandEntry, commandEntries } from "../../../gen/commands.ts";
import type { Io } from "../io.ts";
import { pluralOf } from "./operation-names.ts";

const helpWords = ["-h", "--help", "help"];

/**
 * Adds a command for every operation in the definitions. Two operations with the same command name are an error.
 *
 * Reading all definitions takes most of the time of a short command. So only the commands in `argv` are complete, and they
 * have descriptions only when their help or their completions are shown. The others have what the list of commands shows.
 */
export async function addOperationCommands(
  program: Command,
  io: Io,
  end: (exitCode: number) => void,
  argv: readonly string[],
): Promise<void> {
  const words = new Set(argv);
  const isCompletion = argv[0] === "complete";
  for (const entry of commandEntries) {
    const { word, description, isGroup, verbs } = entry;
    const known = isGroup ? program.commands.find((each) => each.name() === word) : undefined;
    const first = known ?? program.command(word).description(description);
    if (isGroup && known === undefined) first.alias(pluralOf(word)).helpCommand(false);
    if (!words.has(word) && !(isGroup && words.has(pluralOf(word)))) continue;
    const named = isGroup ? namedVerbs(entry, words) : Object.keys(verbs);
    // Without a verb, the group shows its help.
    const isHelp = isCompletion || named.length === 0 || helpWords.some((help) => words.has(help));
    const { completeCommand, operationsOf } = await import("./operation-command.ts");
    const describe = isHelp ? (await import("../../definitions/comments.ts")).commentOf : undefined;
    const complete = new Set(isHelp ? Object.keys(verbs) : named);
    const operations = new Map((await operationsOf(entry, complete)).map((operation) => [operation.id, operation]));
    for (const [id, verb] of Object.entries(verbs)) {
      const command = isGroup ? first.command(verb) : first;
      const operation = operations.get(id);
      if (operation !== undefined) completeCommand(program, command, operation, describe, io, end);
    }
  }
}

/** The operations of a group whose verbs are among the words of a command line. */
function namedVerbs({ verbs }: CommandEntry, words: ReadonlySet<string>): string[] {
  return Object.keys(verbs).filter((id) => words.has(verbs[id]!));
}
