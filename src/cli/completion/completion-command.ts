import { Argument, type Command } from "commander";
import type { Io } from "../io.ts";

/** Adds the command that prints shell completion scripts. */
export function addCompletionCommand(program: Command, io: Io): void {
  program
    .command("completion")
    .description("Generate the shell completion script.")
    .addArgument(new Argument("<shell>", "Shell to generate the script for.").choices(["bash", "zsh", "fish"]))
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
