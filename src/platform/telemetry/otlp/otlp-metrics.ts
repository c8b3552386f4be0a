import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { MetricFamily } from "../merged-metrics.ts";
import { exporterOptions, exportMs, resourceOf, sendMs, withErrorReporting } from "./otlp-exporter.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

/**
 * Sends what a registry shows to a collector, periodically and when it stops. The SDK counts nothing itself: its reader reads the
 * registry, so that `/metrics` and the collector have the same numbers.
 */
export function createOtlpMetrics(
  settings: OtlpSettings,
  intervalMs: number,
  families: () => Promise<readonly MetricFamily[]>,
): { stop(): Promise<void> } {
  // An export that takes longer is given up before the next one starts, so that old values never follow new ones.
  const exporter = new OTLPMetricExporter({
    ...exporterOptions(settings, "metrics"),
    timeoutMillis: Math.min(sendMs, 0.8 * intervalMs),
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: withErrorReporting(exporter, settings, "metrics"),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(exportMs, intervalMs),
  });
  const resource = resourceOf(settings);
  const scope = { name: settings.serviceName };
  const startTime = hrTime(Date.now() - process.uptime() * 1000);
  reader.setMetricProducer({
    async collect() {
      const endTime = hrTime(Date.now());
      const metrics = (await families()).map((family) => toMetricData(family, startTime, endTime));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  });
  return { stop: () => reader.shutdown() };
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function toMetricData({ name, type, text }: MetricFamily, startTime: HrTime, endTime: HrTime): MetricData {
  const description = /^# HELP \S+ (.*)$/m.exec(text)?.[1] ?? "";
  const common = {
    descriptor: { name, description, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const samples = readSamples(text);
  const pointOf = <T>(attributes: Attributes, value: T): DataPoint<T> => ({ startTime, endTime, attributes, value });
  switch (type) {
    case "counter": {
      const dataPoints = samples.map(({ labels, value }) => pointOf(labels, value));
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
    }
    case "histogram": {
      const dataPoints = readHistograms(name, samples).map(([labels, value]) => pointOf(labels, value));
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    default: {
      const dataPoints = samples.map(({ labels, value }) => pointOf(labels, value));
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
    }
  }
}

/** The samples of a metric in the exposition format. Those that are not numbers have not been measured yet. */
function readSamples(text: string): Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const at = line.lastIndexOf(" ");
      const [name] = /^\w+/.exec(line)!;
      const labels = line.slice(name.length, at).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
      const pairs = Array.from(labels, ([, label, value]) => [label!, unescapeLabel(value!)] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(line.slice(at)) };
    })
    .filter(({ value }) => Number.isFinite(value));
}

function unescapeLabel(text: string): string {
  return text.replace(/\\(.)/g, (_, char) => (char === "n" ? "\n" : char));
}

/** The series of a histogram. Their buckets count all smaller values too, and those of OTLP do not. */
function readHistograms(name: string, samples: readonly Sample[]): [Sample["labels"], Histogram][] {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return Array.from(series.values(), (parts) => {
    const { le: _, ...labels } = parts[0]!.labels;
    const sampleOf = (suffix: string) => parts.find((part) => part.name === `${name}_${suffix}`)?.value ?? 0;
    const buckets = parts.filter((part) => part.name === `${name}_bucket`);
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const boundaries = buckets.slice(0, -1).map((bucket) => Number(bucket.labels.le));
    return [labels, { buckets: { boundaries, counts }, sum: sampleOf("sum"), count: sampleOf("count") }];
  });
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
