import type { Command, Option } from "commander";
import { firstSentence } from "../output/first-sentence.ts";

/** A command or group of commands with its completions. */
export interface CompletionNode {
  /** The words of the command, "" for the root. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletionOption[];
}

/** An option that can be completed. */
export interface CompletionOption {
  readonly flag: string;
  readonly summary: string;
  readonly value: "none" | "file" | "any" | readonly string[];
}

/** Collects the nodes of a command tree, the root first. */
export function completionNodes(command: Command, path = ""): CompletionNode[] {
  const node: CompletionNode = {
    path,
    commands: command.commands.map((each) => ({
      name: each.name(),
      summary: firstSentence(each.summary() || each.description()),
    })),
    options: [...command.options.map(optionOf), { flag: "--help", summary: "Show help.", value: "none" }],
  };
  const below = command.commands.flatMap((each) => completionNodes(each, `${path} ${each.name()}`.trim()));
  return [node, ...below];
}

function optionOf({ long, description, argChoices, required, flags }: Option): CompletionOption {
  const value = argChoices ?? (!required ? "none" : flags.endsWith("<file>") ? "file" : "any");
  return { flag: long!, summary: firstSentence(description), value };
}
