import type { Command } from "commander";

/** Adds the command that shows the help of another command. The parser's own one knows only the first word of a command. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .description("Show help for a command.")
    .argument("[command...]", "The words of the command.")
    .action(async (words: readonly string[]) => {
      let command = program;
      for (const [at, word] of words.entries()) {
        // Words after a complete command are its arguments.
        if (command.commands.length === 0) break;
        const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
        // The parser refuses the words and suggests others.
        if (next === undefined) return void (await program.parseAsync(words.slice(0, at + 1), { from: "user" }));
        command = next;
      }
      command.help();
    });
}
