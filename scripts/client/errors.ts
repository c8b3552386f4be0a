import { catalogue } from "../../src/errors/index.ts";
import { docComment } from "./names.ts";

/** Writes the errors of the catalogue as a type: code, status and whether a retry can succeed. */
export function writeErrors(): string {
  const entries = Object.entries(catalogue).map(
    ([code, { http, retryable, meaning, remedy }]) =>
      `${docComment(`${meaning} ${remedy}`, "  ")}  readonly ${code}: { readonly status: ${http}; readonly retryable: ${retryable} };\n`,
  );
  return `// Generated from the error catalogue; do not edit.

/** Every error of the service, by its code. */
export interface ErrorCatalogue {
${entries.join("")}}

/** The code of an error. */
export type ErrorCode = keyof ErrorCatalogue;
`;
}
