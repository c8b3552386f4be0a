/**
 * Telemetry: the traces and metrics that the service exports for its operators.
 *
 * span         one call, as part of a trace that spans several services
 * traceparent  the W3C header that links spans to a trace
 * export       traces, metrics and lines of the log that are sent to a collector
 * metrics      numbers with a few fixed labels; a label never holds an id or free text, except for a bounded number of tenants
 */

export type { MetricFamily } from "./merged-metrics.ts";
export { type CallMetrics, createMetrics, type MetricDescription, type Metrics } from "./metrics.ts";
export { createNonRecordingTracing } from "./non-recording-tracing.ts";
export type { OtlpSignal } from "./otlp/otlp-settings.ts";
export { openTelemetryExport, type TelemetryExport } from "./telemetry-export.ts";
export type { TenantCounter } from "./tenant-counter.ts";
export { formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";
export type { Span, SpanOptions, Tracing } from "./tracing.ts";
