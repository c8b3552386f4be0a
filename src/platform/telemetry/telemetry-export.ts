import type { MetricFamily } from "./merged-metrics.ts";
import { createNonRecordingTracing } from "./non-recording-tracing.ts";
import type { OtlpSettings, OtlpSignal } from "./otlp/otlp-settings.ts";
import type { Tracing } from "./tracing.ts";

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
