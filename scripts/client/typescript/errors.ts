import { catalogue } from "../../../src/errors/index.ts";
import { docComment } from "./language.ts";

/** Writes the errors of the catalogue: code, status, whether a retry can succeed, and title. */
export function writeErrors(): string {
  const entries = Object.entries(catalogue).map(
    ([code, { http, retryable, title, meaning, remedy }]) =>
      `${docComment(`${meaning} ${remedy}`, "  ")}  ${code}: { status: ${http}, retryable: ${retryable}, title: ${JSON.stringify(title)} },\n`,
  );
  return `// Generated from the error catalogue; do not edit.

/** Every error of the service, by its code. */
export const errorCatalogue = {
${entries.join("")}} as const;

/** The type of the catalogue. */
export type ErrorCatalogue = typeof errorCatalogue;

/** The code of an error. */
export type ErrorCode = keyof ErrorCatalogue;
`;
}
