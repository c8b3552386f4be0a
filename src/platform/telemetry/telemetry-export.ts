import type { MetricFamily } from "./merged-metrics.ts";
import { createNonRecordingTracing } from "./non-recording-tracing.ts";
import type { Tracing } from "./tracing.ts";

/** What can be sent to a collector. */
export const otlpSignals = ["traces", "metrics", "logs"] as const;

export type OtlpSignal = (typeof otlpSignals)[number];

/** Where telemetry is sent, and from whom. */
export interface OtlpSettings {
  /** An OTLP/HTTP collector such as `http://host:4318`. The path of a signal, such as `/v1/traces`, is added. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** More attributes of the sender. */
  readonly resource?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fraction of new traces that is sampled, 0 to 1. A caller's sampling decision takes precedence. */
  readonly sampleRatio?: number;
  /** Receives the error of each failed export. */
  readonly onError?: (error: Error, signal: OtlpSignal) => void;
}

export interface TelemetryExportSettings extends OtlpSettings {
  /** Without an endpoint nothing is sent. */
  readonly signals: readonly OtlpSignal[];
  readonly metricsIntervalMs: number;
}

/** The telemetry that a process sends to a collector. */
export interface TelemetryExport {
  /** Without traces it only provides trace ids for the log. */
  readonly tracing: Tracing;
  /** Sends a line of the log; undefined if the log is not sent. */
  readonly writeLog: ((line: string) => void) | undefined;
  /** Sends the metrics of a registry until `stop`, and then a last time. */
  exportMetrics(metrics: { families(): Promise<readonly MetricFamily[]> }): { stop(): void };
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

/** Opens the export of telemetry. The SDK is loaded on demand, because it takes about 25 MB of memory. */
export async function openTelemetryExport(settings: TelemetryExportSettings): Promise<TelemetryExport> {
  const has = (signal: OtlpSignal) => settings.endpoint !== "" && settings.signals.includes(signal);
  const logs = has("logs") ? (await import("./otlp/otlp-logs.ts")).createOtlpLogs(settings) : undefined;
  const createMetrics = has("metrics") ? (await import("./otlp/otlp-metrics.ts")).createOtlpMetrics : undefined;
  const tracing = has("traces")
    ? (await import("./otlp/otlp-tracing.ts")).createOtlpTracing(settings)
    : createNonRecordingTracing();
  const stopping: Promise<void>[] = [];
  return {
    tracing,
    writeLog: logs?.write,
    exportMetrics(metrics) {
      const sent = createMetrics?.(settings, settings.metricsIntervalMs, metrics.families);
      return { stop: () => sent && void stopping.push(sent.stop().catch(() => {})) };
    },
    close: async () => {
      await Promise.all([...stopping, tracing.close(), logs?.close()]);
    },
  };
}
