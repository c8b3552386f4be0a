/** Where in a template something was found: line and column from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What was wrong: the text itself, the work that it asks for, or the size of it or of what it makes. */
export type TemplateErrorCode = "syntax_error" | "limit_exceeded" | "too_large";

/** The one error that templates throw; its message is written for the template's author and holds no values. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(code: TemplateErrorCode, message: string, position?: Position) {
    // Without a stack: it would tell nothing about the template and cost more than to render it.
    const stackTraceLimit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "TemplateError";
    this.code = code;
    this.line = position?.line;
    this.column = position?.column;
  }
}
