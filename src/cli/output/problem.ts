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
  /** The document as received. */
  readonly document: string;
}

/** Parses an error response. A body that is not a problem document is ignored. */
export function parseProblem(status: number, statusText: string, body: Buffer | string): Problem {
  const document = body.toString();
  const fields = objectOf(document);
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : "");
  const violations = Array.isArray(fields.violations) ? fields.violations : [];
  return {
    status: typeof fields.status === "number" ? fields.status : status,
    title: text("title") || statusText || "Unexpected response",
    detail: text("detail"),
    errorCode: text("errorCode"),
    retryable: typeof fields.retryable === "boolean" ? fields.retryable : undefined,
    requestId: text("request_id"),
    violations: violations.map((each) => ({ field: String(each?.field), message: String(each?.message) })),
    document,
  };
}

/** Prints a problem to stderr. Returns the exit code. */
export function reportProblem(io: Io, problem: Problem, asJson: boolean): number {
  io.err(`${asJson && problem.errorCode !== "" ? problem.document : problemText(problem)}\n`);
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
