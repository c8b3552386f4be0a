import { CommanderError } from "commander";
import { suggestCommand } from "./command-suggestion.ts";
import { correctWords } from "./corrected-words.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { createProgram } from "./program.ts";

/** Runs a command line and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = exitCodes.ok;
  try {
    const program = await createProgram(argv, io, (code) => {
      exitCode = code;
    });
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.code === "commander.unknownCommand") {
      const meant = suggestCommand(argv);
      if (meant !== undefined) io.err(`Did you mean ${meant}?\n`);
    }
    const corrected = error instanceof CommanderError ? correctWords(argv, error.message) : undefined;
    if (corrected !== undefined) io.err(`Try: ${corrected}\n`);
    return report(error, io);
  }
}

function report(error: unknown, io: Io): number {
  // The parser has already printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const message = error instanceof Error && error.message !== "" ? error.message : String(error);
  io.err(`service: ${message}\n`);
  if (error instanceof CliError) return error.exitCode;
  return exitCodes.failed;
}
