/**
 * Telemetry: what the service tells its operators about itself.
 *
 * span         one call, as a part of a trace that other services share
 * traceparent  W3C's header that joins the parts
 * metrics      numbers by a few fixed labels; never an id, never free text
 */

export { createTracing } from "./create-tracing.ts";
export { type CallMetrics, createMetrics, type Metrics } from "./metrics.ts";
export { formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";
export type { Span, SpanOptions, Tracing, TracingSettings } from "./tracing.ts";
