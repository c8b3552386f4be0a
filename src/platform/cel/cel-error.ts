/** A position in the source: line and column from 1, offset in UTF-16 units from 0. */
export interface CelPosition {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** The kind of an error: `syntax`, `type` and `limit` at compile time; `evaluation` and `budget` at run time. */
export type CelErrorKind = "syntax" | "type" | "limit" | "evaluation" | "budget";

/** The only error type of this engine; its message is intended for the author of the expression. */
export class CelError extends Error {
  readonly kind: CelErrorKind;
  readonly position: CelPosition | undefined;
  /** The expression whose evaluation failed. */
  readonly source: string | undefined;

  constructor(
    kind: CelErrorKind,
    message: string,
    position?: CelPosition,
    options?: ErrorOptions & { readonly source?: string },
  ) {
    // Created without a stack trace, which would not describe the expression and costs more than evaluating it.
    const stackTraceLimit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "CelError";
    this.kind = kind;
    this.position = position;
    this.source = options?.source;
  }
}
