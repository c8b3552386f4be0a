import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import { commandSummary } from "./command-summary.ts";

/** The one-line description of an operation. */
export function operationSummary({ method, governance }: Operation): string {
  return commandSummary(commentOf(method), governance);
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
