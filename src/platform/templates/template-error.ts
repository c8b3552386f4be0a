import { type FindRepair, invalid } from "../../errors/index.ts";

/** A position in a template: line and column from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The kind of an error: invalid syntax, an exceeded limit, a source or output that is too large, or no such partial. */
export type TemplateErrorCode = "syntax_error" | "limit_exceeded" | "too_large" | "partial_missing";

/** The only error type of templates; its message is intended for the template's author and contains no values. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(code: TemplateErrorCode, message: string, position?: Position) {
    // Created without a stack trace, which would not describe the template and costs more than rendering it.
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

/** Reports the error of a template as a violation of the field that holds it, with its position and its repair. */
export function reportTemplateErrors<T>(field: string, work: () => T, repair?: FindRepair): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const place = error.line === undefined ? "" : `line ${error.line}, column ${error.column}: `;
    throw invalid(field, `template.${error.code}`, place + error.message, {
      ...(repair && { repairs: new Map([[field, repair]]) }),
    });
  }
}
