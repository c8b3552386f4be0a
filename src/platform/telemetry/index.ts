/**
 * Telemetry: the traces and metrics that the service exports for its operators.
 *
 * span         one call, as part of a trace that spans several services
 * traceparent  the W3C header that links spans to a trace
 * metrics      numbers with a few fixed labels; a label never holds an id or free text, except for a bounded number of tenants
 */

export type { MetricFamily } from "./merged-metrics.ts";
export { type CallMetrics, createMetrics, type MetricDescription, type Metrics } from "./metrics.ts";
export type { TenantCounter } from "./tenant-counter.ts";
export { formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";
export type { Span, SpanOptions, Tracing, TracingSettings } from "./tracing.ts";
export { createTracing } from "./tracing-factory.ts";
