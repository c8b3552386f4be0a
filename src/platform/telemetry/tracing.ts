export interface SpanOptions {
  /** The `traceparent` of the caller or of a local parent span. */
  readonly parent?: string | undefined;
  readonly kind: "server" | "client" | "internal";
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** One call or part of a call. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** The header to send to callees. */
  readonly traceparent: string;
  setAttribute(name: string, value: string | number | boolean): void;
  /** Marks the span as failed, with the code of a Failure or, for other errors, the error's name. */
  recordError(error: unknown): void;
  end(): void;
}

/** Creates spans. */
export interface Tracing {
  startSpan(name: string, options: SpanOptions): Span;
  /** Exports the remaining spans, for a few seconds at most. */
  close(): Promise<void>;
}
