import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import { firstSentence } from "../output/first-sentence.ts";

/**
 * Describes a group of commands: with the comment of the record of that name, of the service of that name, or of the
 * records that its commands list.
 */
export function describeNoun(noun: string, commands: readonly Operation[], all: readonly Operation[]): string {
  const messages = all.flatMap((each) => each.service.file.messages);
  const named = messages.find(({ name }) => name.toLowerCase() === noun.replaceAll("-", ""));
  if (named !== undefined) return commentOf(named);
  const service = commands.find((each) => each.service.name.toLowerCase() === `${noun.replaceAll("-", "")}service`);
  if (service !== undefined) return commentOf(service.service);
  const listed = commands.find(({ paging }) => paging !== undefined)?.paging?.items.message;
  return commentOf(listed ?? commands[0]!.service);
}

/** The one-line description of an operation. */
export function operationSummary({ method, governance }: Operation): string {
  const notes: string[] = [];
  if (governance.deprecation !== undefined) notes.push("(deprecated)");
  if (governance.internalOnly) notes.push("(internal plane)");
  return [firstSentence(commentOf(method)), ...notes].join(" ");
}

/** The full description of an operation, with its required scopes and roles. */
export function operationDescription({ method, governance, scopes }: Operation): string {
  const lines = [commentOf(method)];
  if (governance.deprecation !== undefined) lines.push("Deprecated: this command will be removed.");
  if (governance.internalOnly) lines.push("Available only on the internal plane, with a service token as the key.");
  const needs = [...scopes, ...governance.roles.map((role) => `role ${role}`)];
  if (needs.length > 0) lines.push(`Requires: ${needs.join(", ")}.`);
  return lines.join("\n\n");
}
