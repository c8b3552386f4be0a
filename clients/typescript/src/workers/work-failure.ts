/**
 * Says how a handler failed. Any other error that a handler throws is a failure with its `code`, if that is one of a workflow,
 * and may be retried unless its `retryable` is false.
 */
export class WorkFailure extends Error {
  /** A stable code: lower-case letters, digits and underscores. Empty for none. */
  readonly code: string;
  /** Whether another attempt makes sense. */
  readonly retryable: boolean;
  /** Seconds until the next attempt. Only workflow tasks obey it; items of queues have the back-off of their pool. */
  readonly retryAfterSeconds: number | undefined;
  /** Further data for the workflow. Items of queues have none. */
  readonly details: unknown;

  constructor(
    message: string,
    options: {
      code?: string;
      retryable?: boolean;
      retryAfterSeconds?: number;
      details?: unknown;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "WorkFailure";
    this.code = options.code ?? "";
    this.retryable = options.retryable ?? true;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
  }
}

/** The reason of a handler's signal when somebody else has the work now, or nobody needs it. */
export class LeaseLostError extends Error {
  constructor(message = "the lease is lost: the result is not needed any more") {
    super(message);
    this.name = "LeaseLostError";
  }
}

/** The reason of a handler's signal when the worker stops and its time to finish is over. */
export class WorkerStoppedError extends Error {
  constructor() {
    super("the worker stops");
    this.name = "WorkerStoppedError";
  }
}

/** The longest message that a report can have. */
const messageCharsMax = 1000;

/** Converts what a handler has thrown to a failure that can be reported. */
export function toWorkFailure(error: unknown): WorkFailure {
  if (error instanceof WorkFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const { code, retryable } = Object(error) as { readonly code?: unknown; readonly retryable?: unknown };
  return new WorkFailure(message.slice(0, messageCharsMax), {
    // Codes of the platform, such as ENOENT, are not codes of a workflow.
    ...(typeof code === "string" && /^[a-z][a-z0-9_]*$/.test(code) && { code }),
    retryable: retryable !== false,
    cause: error,
  });
}
