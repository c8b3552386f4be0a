import { catalogue, type ErrorCode, type ErrorEntry } from "./catalogue.ts";

/** A rule that a field violates. */
export interface Violation {
  /** The field's path, for example `quotas["route"].limit_per_day`. */
  readonly field: string;
  /** The rule's name, for example `string.min_len`. */
  readonly rule: string;
  /** A human-readable description of the problem. */
  readonly message: string;
}

interface FailureDetails {
  /** The message that callers see. */
  readonly public?: string;
  /** The cause, which only the log contains. */
  readonly cause?: unknown;
  readonly violations?: readonly Violation[];
  /** Response headers that belong to the error, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional public members of the problem document. They cannot replace its own members. */
  readonly extra?: Readonly<Record<string, unknown>> & { readonly [name in ProblemMember]?: never };
}

type ProblemMember = "type" | "title" | "status" | "detail" | "errorCode" | "retryable" | "request_id" | "violations";

/** The only error that code throws deliberately: a code, a public message, and a cause that stays in the log. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    super(details.public ?? catalogue[code].meaning, { cause: details.cause });
    this.name = "Failure";
    this.code = code;
    this.violations = details.violations ?? [];
    this.headers = details.headers ?? {};
    this.extra = details.extra ?? {};
  }

  get entry(): ErrorEntry {
    return catalogue[this.code];
  }
}

/** Creates a failure to throw: `throw fail("NOT_FOUND", { public: "No such tenant." })`. */
export function fail(code: ErrorCode, details?: FailureDetails): Failure {
  return new Failure(code, details);
}

/** Creates an INVALID_ARGUMENT failure about one field. */
export function invalid(field: string, rule: string, message: string): Failure {
  return new Failure("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations: [{ field, rule, message }] });
}

/** Makes a switch over a closed union exhaustive: its default branch returns this. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable: ${String(value)}`);
}

/** The message of an error. An AggregateError has the message of its first error. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
