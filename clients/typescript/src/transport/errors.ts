import type { ErrorCatalogue, ErrorCode } from "../gen/errors.ts";

/** A failed call. */
export abstract class SwitchyardError extends Error {
  /** Whether the same call, unchanged, can succeed later. */
  abstract readonly retryable: boolean;
}

/** An invalid field of a request. */
export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** One step of a JSON Patch (RFC 6902). */
export type PatchStep =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move"; readonly from: string; readonly path: string };

/** What the service would have accepted instead of a refused value. */
export interface Correction {
  readonly field: string;
  /** The kind of mistake, for example `number_as_text`. */
  readonly kind: string;
  /** The part of the request that the patch changes. */
  readonly in: "body" | "query" | "path" | "header" | "method";
  /** The JSON Patch of that part. Corrections apply in their order. Absent where there is only a value to send. */
  readonly patch?: readonly PatchStep[];
  /** The corrected value; absent if the patch only moves or removes something. */
  readonly value?: unknown;
  /** `certain`: the same value in the accepted form. `likely`: the accepted value that comes closest. */
  readonly confidence: "certain" | "likely";
}

/** The problem document (RFC 9457) of an error response. */
export interface Problem {
  readonly title: string;
  readonly detail: string;
  readonly errorCode: string;
  readonly retryable: boolean;
  readonly request_id?: string;
  readonly violations?: readonly Violation[];
  readonly corrections?: readonly Correction[];
  readonly [extra: string]: unknown;
}

/** The service has refused or failed a call. `code` says why. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends SwitchyardError {
  readonly code: Code;
  readonly status: ErrorCatalogue[Code]["status"];
  readonly retryable: boolean;
  /** The id of the request in the logs of the service; empty if the response has none. */
  readonly requestId: string;
  /** The invalid fields; empty for other errors. */
  readonly violations: readonly Violation[];
  /** What the service would have accepted instead, where that can be known. */
  readonly corrections: readonly Correction[];
  /** The time that the service asks to wait before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The whole problem document. */
  readonly problem: Problem;

  constructor(status: number, problem: Problem, retryAfterMs?: number) {
    super(`${problem.errorCode}: ${problem.detail}`);
    this.name = "ApiError";
    this.code = problem.errorCode as Code;
    this.status = status as ErrorCatalogue[Code]["status"];
    this.retryable = problem.retryable;
    this.requestId = problem.request_id ?? "";
    this.violations = problem.violations ?? [];
    this.corrections = problem.corrections ?? [];
    this.retryAfterMs = retryAfterMs;
    this.problem = problem;
  }
}

/** No usable response has arrived: the connection failed, or something else than the service has answered. */
export class ConnectionError extends SwitchyardError {
  readonly retryable: boolean;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { cause?: unknown; retryable?: boolean; status?: number; retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ConnectionError";
    this.retryable = options.retryable ?? true;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The time of a call is over. Its effect is unknown; repeat it with the same idempotency key to find out. */
export class DeadlineError extends SwitchyardError {
  readonly retryable = true;

  constructor(timeoutMs: number, cause?: unknown) {
    super(`no response within ${timeoutMs} ms`, { cause });
    this.name = "DeadlineError";
  }
}

/** Too many calls wait for their batch. The call was not sent: make it again when others have ended. */
export class BacklogError extends SwitchyardError {
  readonly retryable = true;

  constructor(waitingMax: number) {
    super(`${waitingMax} calls wait to be sent already`);
    this.name = "BacklogError";
  }
}

/** Whether an error is a response of the service, with one of these codes if any are given. */
export function isApiError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ApiError<Code> {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code));
}

/** Reads an error response. Responses that are not problem documents come from a proxy or another server. */
export async function readError(response: Response): Promise<ApiError | ConnectionError> {
  const { status } = response;
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"), Date.now());
  // Without its body, the status still says whether a retry can help.
  const text = await response.text().catch(() => "");
  const problem = parseProblem(text);
  if (problem !== undefined) return new ApiError(status, problem, retryAfterMs);
  return new ConnectionError(`unexpected response with status ${status}: ${text.slice(0, 200)}`, {
    status,
    retryAfterMs,
    retryable: status === 408 || status === 429 || status === 502 || status === 503 || status === 504,
  });
}

/** Parses a problem document of the service; undefined if the text is something else. */
export function parseProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.errorCode === "string" ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads Retry-After, which is a number of seconds or a date, as milliseconds. */
export function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
