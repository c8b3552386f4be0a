import { commentOf } from "../definitions/comments.ts";
import type { Operation } from "../definitions/index.ts";
import { firstSentence } from "./first-sentence.ts";

/** What a noun stands for: the record of that name, or else what its service is about. */
export function nounMeaning(noun: string, { service }: Operation, operations: readonly Operation[]): string {
  const records = operations.flatMap((each) => each.service.file.messages);
  const record = records.find(({ name }) => name.toLowerCase() === noun.replaceAll("-", ""));
  return (record && commentOf(record)) || commentOf(service);
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
