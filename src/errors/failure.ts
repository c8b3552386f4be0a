import { catalogue, type ErrorCode, type ErrorEntry } from "./catalogue.ts";

/** One broken rule of one field. */
export interface Violation {
  /** The field's path, for example `quotas["route"].limit_per_day`. */
  readonly field: string;
  /** The rule's name, for example `string.min_len`. */
  readonly rule: string;
  /** What is wrong, for people. */
  readonly message: string;
}

interface FailureDetails {
  /** What callers may read. */
  readonly public?: string;
  /** What only the log may hold. */
  readonly cause?: unknown;
  readonly violations?: readonly Violation[];
  /** Response headers that belong to the error, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further public members of the problem document. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The only error that is thrown on purpose: a code of the catalogue, a public half and a cause for the log. */
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

/** Makes a failure to throw: `throw fail("NOT_FOUND", { public: "No such tenant." })`. */
export function fail(code: ErrorCode, details?: FailureDetails): Failure {
  return new Failure(code, details);
}

/** An INVALID_ARGUMENT about one field. */
export function invalid(field: string, rule: string, message: string): Failure {
  return new Failure("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations: [{ field, rule, message }] });
}

/** Ends a switch over a closed union. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable: ${String(value)}`);
}
