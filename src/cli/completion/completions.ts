import type { Command, Option } from "commander";
import { firstSentence } from "../output/first-sentence.ts";

/** A word that may come next. */
export interface Completion {
  readonly word: string;
  readonly summary: string;
}

/** What may come next in a command line: words, or the name of a file. */
export type Completions = readonly Completion[] | "file";

/** Finds what completes the last of these words, which may be empty. */
export function findCompletions(program: Command, words: readonly string[]): Completions {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const path = [program];
  for (const word of before) {
    const next = path.at(-1)!.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next !== undefined) path.push(next);
  }
  const command = path.at(-1)!;
  const previous = path.flatMap(({ options }) => options).find(({ long }) => long === before.at(-1));
  if (previous?.required) return startingWith(current, valuesOf(previous));
  const isOption = current.startsWith("-") || command.commands.length === 0;
  return startingWith(current, isOption ? optionsOf(command) : commandsOf(command));
}

function startingWith(text: string, completions: Completions): Completions {
  return completions === "file" ? completions : completions.filter(({ word }) => word.startsWith(text));
}

function valuesOf({ argChoices, flags }: Option): Completions {
  if (argChoices !== undefined) return argChoices.map((word) => ({ word, summary: "" }));
  return flags.endsWith("<file>") ? "file" : [];
}

function optionsOf({ options }: Command): Completion[] {
  const own = options.map(({ long, description }) => ({ word: long!, summary: firstSentence(description) }));
  return [...own, { word: "--help", summary: "Show help." }];
}

function commandsOf(command: Command): Completion[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({
      word: each.name(),
      summary: firstSentence(each.summary() || each.description()),
    }));
}
