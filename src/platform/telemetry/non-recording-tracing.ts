import { formatTraceparent, parseTraceparent, randomId, type TraceContext } from "./trace-context.ts";
import type { Span, Tracing } from "./tracing.ts";

// Ids are generated on first use, so that a call that logs nothing does not pay for them.
class NonRecordingSpan implements Span {
  #header: string | undefined;
  #context: TraceContext | undefined;

  constructor(header: string | undefined) {
    this.#header = header;
  }

  #resolve(): TraceContext {
    if (this.#context === undefined) {
      const parent = this.#header === undefined ? undefined : parseTraceparent(this.#header);
      // Not sampled, unless the caller samples: callees would otherwise record spans whose parent is never exported.
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

/** Creates tracing whose spans are not exported but still provide trace ids for log lines. */
export function createNonRecordingTracing(): Tracing {
  return { startSpan: (_name, { parent }) => new NonRecordingSpan(parent), close: async () => {} };
}
