/** Where in the source an error was found: line and column from 1, offset in UTF-16 units from 0. */
export interface CelPosition {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** What went wrong: `syntax`, `type` and `limit` while compiling; `evaluation` and `budget` while evaluating. */
export type CelErrorKind = "syntax" | "type" | "limit" | "evaluation" | "budget";

/** The one error that this engine throws; its message is written for the author of the expression. */
export class CelError extends Error {
  readonly kind: CelErrorKind;
  readonly position: CelPosition | undefined;

  constructor(kind: CelErrorKind, message: string, position?: CelPosition, options?: ErrorOptions) {
    // Without a stack: it would tell nothing about the expression and cost more than to evaluate it.
    const stackTraceLimit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "CelError";
    this.kind = kind;
    this.position = position;
  }
}
