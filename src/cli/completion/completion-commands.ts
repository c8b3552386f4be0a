import { Argument, type Command } from "commander";
import type { Io } from "../io.ts";
import { fileMarker, shellScripts } from "./shell-scripts.ts";

/** Adds the command that prints shell completion scripts, and the hidden one that these scripts call. */
export function addCompletionCommands(program: Command, io: Io): void {
  program
    .command("completion")
    .description("Generate the shell completion script.")
    .addArgument(new Argument("<shell>", "Shell to generate the script for.").choices(Object.keys(shellScripts)))
    .action((shell: keyof typeof shellScripts) => io.out(shellScripts[shell]));
  program
    .command("complete", { hidden: true })
    .description("List what may come next in a command line, with a description behind a tab.")
    .argument("[words...]", "Words after `service`; the last one is being typed.")
    .action(async (words: string[]) => {
      const { findCompletions } = await import("./completions.ts");
      const found = findCompletions(program, words);
      if (found === "file") io.out(`${fileMarker}\n`);
      else for (const { word, summary } of found) io.out(`${word}\t${summary}\n`);
    });
}
