import { formatTraceparent, parseTraceparent, randomId, type TraceContext } from "./trace-context.ts";
import type { Span, Tracing } from "./tracing.ts";

// Ids are made when first read: a call that logs nothing pays for none.
class QuietSpan implements Span {
  #header: string | undefined;
  #context: TraceContext | undefined;

  constructor(header: string | undefined) {
    this.#header = header;
  }

  #resolve(): TraceContext {
    if (this.#context === undefined) {
      const parent = this.#header === undefined ? undefined : parseTraceparent(this.#header);
      // Not sampled for callees: nothing here records the span that they would hang theirs on, unless the caller does.
      this.#context = {
        traceId: parent?.traceId ?? randomId(16),
        spanId: randomId(8),
        sampled: parent?.sampled ?? false,
      };
    }
    return this.#context;
  }

  get traceId(): string {
    return this.#resolve().traceId;
  }
  get spanId(): string {
    return this.#resolve().spanId;
  }
  get traceparent(): string {
    return formatTraceparent(this.#resolve());
  }
  setAttribute(): void {}
  recordError(): void {}
  end(): void {}
}

/** Spans that are recorded nowhere and still join log lines of one trace. */
export function createQuietTracing(): Tracing {
  return { startSpan: (_name, { parent }) => new QuietSpan(parent), close: async () => {} };
}
