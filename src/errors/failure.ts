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

/** One step of a JSON Patch (RFC 6902). */
export type PatchStep =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move"; readonly from: string; readonly path: string };

/** What would have been accepted instead of a refused value. */
export interface Correction {
  /** The path of the field, as in the violation. */
  readonly field: string;
  /** The kind of mistake, for example `number_as_text`. */
  readonly kind: string;
  /** The part of the request that the patch changes. Other protocols than REST have only a body. */
  readonly in: "body" | "query" | "path" | "header" | "method";
  /** The JSON Patch of that part. Corrections apply in their order. Absent where there is only a value to send. */
  readonly patch?: readonly PatchStep[];
  /** The corrected value; absent if the patch only moves or removes something. */
  readonly value?: unknown;
  /** `certain`: the same value in the accepted form. `likely`: the accepted value that comes closest. */
  readonly confidence: "certain" | "likely";
}

/** The JSON that was refused, for corrections. It is never sent or logged. */
export interface RefusedInput {
  /** The name of the message type that the JSON is for. */
  readonly type: string;
  readonly json: unknown;
  /** Set for the parameters of a query: checks them again. */
  readonly checkQuery?: (json: Readonly<Record<string, unknown>>) => readonly Violation[];
}

/** A repaired text, or another value or name that a member should have. */
type Repair = string | { readonly value: unknown } | { readonly name: string };

/** Finds a repair; undefined if it is not known what is meant. */
export type FindRepair = () => Repair | undefined;

interface FailureDetails {
  /** The message that callers see. */
  readonly public?: string;
  /** The cause, which only the log contains. */
  readonly cause?: unknown;
  readonly violations?: readonly Violation[];
  readonly refused?: RefusedInput | undefined;
  readonly corrections?: readonly Correction[];
  /** The kind of record that does not exist, such as `pool`. */
  readonly missing?: string;
  /** Repair what only its reader understands, by field: texts in a language of the service, and members of documents. */
  readonly repairs?: ReadonlyMap<string, FindRepair>;
  /** Response headers that belong to the error, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional public members of the problem document. They cannot replace its own members. */
  readonly extra?: Readonly<Record<string, unknown>> & { readonly [name in ProblemMember]?: never };
}

type ProblemMember =
  | "type"
  | "title"
  | "status"
  | "detail"
  | "errorCode"
  | "retryable"
  | "request_id"
  | "violations"
  | "corrections";

/** The only error that code throws deliberately: a code, a public message, and a cause that stays in the log. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly refused: RefusedInput | undefined;
  readonly repairs: FailureDetails["repairs"];
  readonly missing: string | undefined;
  /** Computed when the failure leaves the chain. */
  corrections: readonly Correction[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    super(details.public ?? catalogue[code].meaning, { cause: details.cause });
    this.name = "Failure";
    this.code = code;
    this.violations = details.violations ?? [];
    this.refused = details.refused;
    this.repairs = details.repairs;
    this.missing = details.missing;
    this.corrections = details.corrections ?? [];
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
export function invalid(
  field: string,
  rule: string,
  message: string,
  details?: Pick<FailureDetails, "corrections" | "repairs">,
): Failure {
  const violations = [{ field, rule, message }];
  return new Failure("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations, ...details });
}

/** Names the fields of a refusal by their path in the request; other errors stay as they are. */
export function withinField<E>(path: string, error: E): E | Failure {
  if (!(error instanceof Failure) || error.violations.length === 0) return error;
  const within = (field: string) => `${path}.${field}`;
  const violations = error.violations.map((each) => ({ ...each, field: within(each.field) }));
  const repairs = error.repairs && new Map([...error.repairs].map(([field, repair]) => [within(field), repair]));
  const [{ field, message }] = violations as [Violation];
  return new Failure(error.code, {
    ...{ public: `${field}: ${message}`, violations },
    ...(repairs !== undefined && { repairs }),
  });
}

/** The correction of a header. */
export function headerCorrection(field: string, value: string, confidence: Correction["confidence"]): Correction {
  return { field, kind: "wrong_header", in: "header", value, confidence };
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
