import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "../../config/index.ts";
import { createLog, type Log } from "../../platform/log/log.ts";
import {
  type Metrics,
  type OtlpSignal,
  openTelemetryExport,
  type TelemetryExport,
} from "../../platform/telemetry/index.ts";
import { version } from "../version.ts";

/** The telemetry of one process: its log, and what it sends to a collector. */
export interface Telemetry extends Pick<TelemetryExport, "tracing" | "close"> {
  readonly log: Log;
  /** Sends the metrics until `stop`, and counts failed exports among them. */
  exportMetrics(metrics: Pick<Metrics, "families" | "counter">): { stop(): void };
  readonly areTracesLost: () => boolean;
}

/** The most tenants that series name. */
export function namedTenantsMax(config: Config): number {
  return config["analytics.enabled"] ? config["analytics.tenants_max"] : 0;
}

/** The shortest interval between log lines about failed exports of a signal. */
const failureLogMs = 60_000;

/** Opens the telemetry of a process. A collector that does not respond is named in the log once a minute. */
export async function openTelemetry(
  config: Config,
  processName: number | string | undefined,
  signals: readonly string[] = config["telemetry.otlp_signals"],
): Promise<Telemetry> {
  const failedAtMs = new Map<OtlpSignal, number>();
  const loggedAtMs = new Map<OtlpSignal, number>();
  const isRecent = (times: ReadonlyMap<OtlpSignal, number>, signal: OtlpSignal) =>
    performance.now() - (times.get(signal) ?? Number.NEGATIVE_INFINITY) < failureLogMs;
  let countFailure = (_signal: OtlpSignal) => {};
  const exported = await openTelemetryExport({
    endpoint: config["telemetry.otlp_endpoint"],
    signals: config["telemetry.otlp_signals"].filter((signal) => signals.includes(signal)) as OtlpSignal[],
    metricsIntervalMs: config["telemetry.otlp_metrics_interval_s"] * 1000,
    serviceName: "switchyard",
    resource: {
      "service.version": version,
      "service.instance.id": randomUUID(),
      "host.name": hostname(),
      "process.pid": process.pid,
    },
    onError(error, signal) {
      failedAtMs.set(signal, performance.now());
      countFailure(signal);
      if (isRecent(loggedAtMs, signal)) return;
      loggedAtMs.set(signal, performance.now());
      log.warn({ err: error, signal }, "telemetry could not be sent to the collector (telemetry.otlp_endpoint)");
    },
  });
  const log = createLog(config["log.level"], processName, exported.writeLog);
  return {
    log,
    tracing: exported.tracing,
    exportMetrics(metrics) {
      const failures = metrics.counter({
        name: "telemetry_export_failures_total",
        help: "Exports of telemetry that the collector did not accept, by signal.",
        labels: ["signal"],
      });
      countFailure = (signal) => failures.inc({ signal });
      return exported.exportMetrics(metrics);
    },
    areTracesLost: () => isRecent(failedAtMs, "traces"),
    close: exported.close,
  };
}
