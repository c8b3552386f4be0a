import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import { firstSentence } from "../output/first-sentence.ts";

/**
 * What a noun stands for: the record of that name, else the service of that name, else the records that its commands
 * list.
 */
export function nounMeaning(noun: string, commands: readonly Operation[], all: readonly Operation[]): string {
  const messages = all.flatMap((each) => each.service.file.messages);
  const named = messages.find(({ name }) => name.toLowerCase() === noun.replaceAll("-", ""));
  if (named !== undefined) return commentOf(named);
  const service = commands.find((each) => each.service.name.toLowerCase() === `${noun.replaceAll("-", "")}service`);
  if (service !== undefined) return commentOf(service.service);
  const listed = commands.find(({ paging }) => paging !== undefined)?.paging?.items.message;
  return commentOf(listed ?? commands[0]!.service);
}

/** An operation in one line, for lists of commands. */
export function operationSummary({ method, governance }: Operation): string {
  const notes: string[] = [];
  if (governance.deprecation !== undefined) notes.push("(deprecated)");
  if (governance.internalOnly) notes.push("(internal plane)");
  return [firstSentence(commentOf(method)), ...notes].join(" ");
}

/** What an operation does and needs, for its own help. */
export function operationDescription({ method, governance, scopes }: Operation): string {
  const lines = [commentOf(method)];
  if (governance.deprecation !== undefined) lines.push("Deprecated: it will go away.");
  if (governance.internalOnly) lines.push("Only on the internal plane, with a service token as the key.");
  const needs = [...scopes, ...governance.roles.map((role) => `role ${role}`)];
  if (needs.length > 0) lines.push(`Needs ${needs.join(", ")}.`);
  return lines.join("\n\n");
}
