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
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Failure, fail } from "../../errors/index.ts";
import { formatTraceparent, parseTraceparent, randomId } from "./trace-context.ts";
import type { Span, Tracing, TracingSettings } from "./tracing.ts";

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const sendMs = 5_000;

/** Creates tracing that exports JSON to an OTLP/HTTP collector with the OpenTelemetry SDK. It registers no globals. */
export function createOtlpTracing(settings: TracingSettings & { readonly endpoint: string }): Tracing {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(settings.endpoint),
    headers: { ...settings.headers },
    timeoutMillis: sendMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": settings.serviceName }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.sampleRatio ?? 1) }),
    idGenerator: { generateTraceId: () => randomId(16), generateSpanId: () => randomId(8) },
    spanLimits: { attributeCountLimit: 64, attributeValueLengthLimit: 1024, eventCountLimit: 16 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withErrorReporting(exporter, settings.onError),
        // Bounds the memory while the collector is unreachable. Further spans are dropped.
        maxQueueSize: 4096,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 2_000,
        exportTimeoutMillis: sendMs + 1_000,
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

function tracesUrl(endpoint: string): string {
  if (!URL.canParse(endpoint))
    throw fail("FAILED_PRECONDITION", {
      public: `The trace endpoint ${endpoint} is not a URL (for example: http://collector:4318).`,
    });
  const url = new URL(endpoint);
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url.href;
}

// The SDK reports failures only to its own global logger.
function withErrorReporting(exporter: SpanExporter, onError: TracingSettings["onError"]): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onError?.(result.error);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
