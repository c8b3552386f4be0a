import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Failure } from "../../../errors/index.ts";
import { formatTraceparent, parseTraceparent, randomId } from "../trace-context.ts";
import type { Span, Tracing } from "../tracing.ts";
import { exporterOptions, exportMs, resourceOf, withErrorReporting } from "./otlp-exporter.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** Creates tracing that exports JSON to an OTLP/HTTP collector with the OpenTelemetry SDK. It registers no globals. */
export function createOtlpTracing(settings: OtlpSettings): Tracing {
  const exporter = new OTLPTraceExporter(exporterOptions(settings, "traces"));
  const provider = new TracerProvider({
    resource: resourceOf(settings),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.sampleRatio ?? 1) }),
    idGenerator: { generateTraceId: () => randomId(16), generateSpanId: () => randomId(8) },
    spanLimits: { attributeCountLimit: 64, attributeValueLengthLimit: 1024, eventCountLimit: 16 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withErrorReporting(exporter, settings, "traces"),
        // Bounds the memory while the collector is unreachable. Further spans are dropped.
        maxQueueSize: 4096,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 2_000,
        exportTimeoutMillis: exportMs,
      }),
    ],
  });
  const tracer = provider.getTracer(settings.serviceName);

  return {
    startSpan: (name, options) =>
      toSpan(
        tracer.startSpan(
          name,
          { kind: kinds[options.kind], attributes: options.attributes },
          parentContext(options.parent),
        ),
      ),
    async close() {
      // A failed batch has already been reported. It must not fail the shutdown or prevent the exporter's shutdown.
      await provider.shutdown().catch(() => {});
      await exporter.shutdown();
    },
  };
}

function toSpan(span: SdkSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    spanId,
    get traceparent() {
      return formatTraceparent({ traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 });
    },
    setAttribute: (name, value) => void span.setAttribute(name, value),
    recordError(error) {
      const type = error instanceof Failure ? error.code : error instanceof Error ? error.name : "unknown";
      span.setAttribute("error.type", type);
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error instanceof Error) span.recordException(error);
    },
    end: () => span.end(),
  };
}

function parentContext(header: string | undefined): Context {
  const parent = parseTraceparent(header);
  if (parent === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}
