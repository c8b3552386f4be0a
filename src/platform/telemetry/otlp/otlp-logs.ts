import { type AnyValue, ROOT_CONTEXT, SeverityNumber, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { exporterOptions, exportMs, resourceOf, withErrorReporting } from "./otlp-exporter.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** A line of the log. What is secret was removed from it before it was written. */
interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  /** Named by the resource. */
  readonly service?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly err?: { readonly type?: string; readonly message?: string; readonly stack?: string };
}

/** Sends the lines of the log to a collector. */
export function createOtlpLogs(settings: OtlpSettings): { write(line: string): void; close(): Promise<void> } {
  const provider = new LoggerProvider({
    resource: resourceOf(settings),
    logRecordLimits: { attributeCountLimit: 64, attributeValueLengthLimit: 4096 },
    processors: [
      new BatchLogRecordProcessor({
        exporter: withErrorReporting(new OTLPLogExporter(exporterOptions(settings, "logs")), settings, "logs"),
        // Bounds the memory while the collector is unreachable. Further lines are only on standard error.
        maxQueueSize: 4096,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: exportMs,
      }),
    ],
  });
  const logger = provider.getLogger(settings.serviceName);
  return {
    write(text) {
      const {
        level,
        time,
        msg,
        service: _,
        trace_id: traceId,
        span_id: spanId,
        err,
        ...rest
      }: LogLine = JSON.parse(text);
      logger.emit({
        timestamp: new Date(time),
        severityNumber: severities[level] ?? SeverityNumber.UNSPECIFIED,
        severityText: level,
        body: msg ?? "",
        attributes: { ...(rest as Record<string, AnyValue>), ...(err !== undefined && exceptionOf(err)) },
        context:
          traceId === undefined || spanId === undefined
            ? ROOT_CONTEXT
            : trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE }),
      });
    },
    // A failed batch has already been reported. It must not fail the shutdown.
    close: () => provider.shutdown().catch(() => {}),
  };
}

function exceptionOf({ type = "Error", message = "", stack = "" }: NonNullable<LogLine["err"]>) {
  return { "exception.type": type, "exception.message": message, "exception.stacktrace": stack };
}
