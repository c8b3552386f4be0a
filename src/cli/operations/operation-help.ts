import type { Operation } from "../../definitions/index.ts";
import { commandSummary } from "./command-summary.ts";
import { undescribed } from "./operation-options.ts";

/** The one-line description of an operation. */
export function operationSummary({ method, governance }: Operation, describe = undescribed): string {
  return commandSummary(describe(method), governance);
}

/** The full description of an operation, with its required scopes and roles. */
export function operationDescription({ method, governance, scopes }: Operation, describe = undescribed): string {
  const lines = [describe(method)];
  if (governance.deprecation !== undefined) lines.push("Deprecated: this command will be removed.");
  if (governance.internalOnly) lines.push("Available only on the internal plane, with a service token as the key.");
  const needs = [...scopes, ...governance.roles.map((role) => `role ${role}`)];
  if (needs.length > 0) lines.push(`Requires: ${needs.join(", ")}.`);
  return lines.join("\n\n");
}
