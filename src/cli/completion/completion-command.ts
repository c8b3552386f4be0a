import { Argument, type Command } from "commander";
import type { Io } from "../io.ts";

/** Adds the command that prints completion scripts, made from the same tree of commands. */
export function addCompletionCommand(program: Command, io: Io): void {
  program
    .command("completion")
    .description("Print a completion script for a shell.")
    .addArgument(new Argument("<shell>", "The shell.").choices(["bash", "zsh", "fish"]))
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { completionNodes } = await import("./completion-tree.ts");
      const nodes = completionNodes(program);
      switch (shell) {
        case "bash":
          return io.out((await import("./bash.ts")).bashCompletion(nodes));
        case "zsh":
          return io.out((await import("./zsh.ts")).zshCompletion(nodes));
        case "fish":
          return io.out((await import("./fish.ts")).fishCompletion(nodes));
      }
    });
}
