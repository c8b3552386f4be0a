import type { PatchStep } from "../../errors/index.ts";
import { exitCodeOf } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { printable } from "./printable.ts";

/** An error response. Without a problem document only the status is known. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errorCode: string;
  readonly retryable: boolean | undefined;
  readonly requestId: string;
  readonly violations: readonly { readonly field: string; readonly message: string }[];
  /** The JSON Patches of the corrections. */
  readonly corrections: readonly (readonly PatchStep[])[];
  /** The document as received. */
  readonly document: string;
}

/** Parses an error response. A body that is not a problem document is ignored. */
export function parseProblem(status: number, statusText: string, body: Buffer | string): Problem {
  const document = body.toString();
  const fields = objectOf(document);
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : "");
  const listOf = (name: string) => (Array.isArray(fields[name]) ? (fields[name] as Record<string, unknown>[]) : []);
  const violations = listOf("violations");
  return {
    status: typeof fields.status === "number" ? fields.status : status,
    title: text("title") || statusText || "Unexpected response",
    detail: text("detail"),
    errorCode: text("errorCode"),
    retryable: typeof fields.retryable === "boolean" ? fields.retryable : undefined,
    requestId: text("request_id"),
    violations: violations.map((each) => ({ field: String(each?.field), message: String(each?.message) })),
    corrections: listOf("corrections").flatMap(({ patch }) => (Array.isArray(patch) ? [patch as PatchStep[]] : [])),
    document,
  };
}

/** Prints a problem to stderr. Returns the exit code. */
export function reportProblem(io: Io, problem: Problem, asJson: boolean, correctedCommand?: string): number {
  const lines = [asJson && problem.errorCode !== "" ? problem.document : problemText(problem)];
  if (!asJson && correctedCommand !== undefined) lines.push(printable(`Try: ${correctedCommand}`));
  io.err(`${lines.join("\n")}\n`);
  return exitCodeOf(problem.status, problem.retryable);
}

function problemText({ status, title, detail, errorCode, requestId, violations }: Problem): string {
  const lines = [`service: ${title} (${[status, errorCode].filter((each) => each !== "").join(" ")})`];
  // With a single violation, the detail is the same text.
  if (detail !== "" && violations.length !== 1) lines.push(`  ${detail}`);
  for (const { field, message } of violations) lines.push(`  ${field}: ${message}`);
  if (status === 401) lines.push("  Set a key with --key, SWITCHYARD_KEY or a profile (service profile set).");
  if (requestId !== "") lines.push(`  request ${requestId}`);
  return lines.map(printable).join("\n");
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
