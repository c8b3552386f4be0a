/** What a span is told at its start. */
export interface SpanOptions {
  /** The caller's `traceparent` header, or that of a span of ours. */
  readonly parent?: string | undefined;
  readonly kind: "server" | "client" | "internal";
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** One call or a part of one. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** The header for whoever is called from here. */
  readonly traceparent: string;
  setAttribute(name: string, value: string | number | boolean): void;
  /** Marks the span as failed, by the code of the catalogue or else the error's name. */
  recordError(error: unknown): void;
  end(): void;
}

/** Makes spans. */
export interface Tracing {
  startSpan(name: string, options: SpanOptions): Span;
  /** Sends what is still waiting, for a few seconds at most. */
  close(): Promise<void>;
}

/** Where traces go. */
export interface TracingSettings {
  /** An OTLP/HTTP collector, `http://host:4318`; `/v1/traces` is added when it has no path. None: no export. */
  readonly endpoint?: string | undefined;
  readonly serviceName: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The share of new traces that is recorded, 0 to 1; a caller's own decision is always followed. */
  readonly sampleRatio?: number;
  /** Told when a batch could not be sent. */
  readonly onError?: (error: Error) => void;
}
