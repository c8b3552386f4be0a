import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { fail } from "../../errors/index.ts";
import { CallHistogram, type Series } from "./call-histogram.ts";
import { addEventLoopDelay } from "./event-loop-delay.ts";
import type { MetricFamily } from "./merged-metrics.ts";
import { CountingTenantCounter, type TenantCounter } from "./tenant-counter.ts";
import { createTenantLabels, type TenantLabels, tenantLabel } from "./tenant-labels.ts";
import { renderMetric, type TextMetric } from "./text-metric.ts";

/** The metrics of calls. Every argument has a fixed set of values, such as operations and error codes. */
export interface CallMetrics {
  /** Records the start of a call. */
  begin(protocol: string, plane: string): void;
  /** Records the end of a call; `code` is `OK` or an error code of the catalogue. The tenant is unknown until it is authenticated. */
  end(operation: string, protocol: string, plane: string, code: string, seconds: number, tenantId?: string): void;
}

interface MetricSettings {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A metric of the registry. */
export interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly help: string;
  /** Without the tenant's label. */
  readonly labels: readonly string[];
  /** The label that names the tenant of each series; undefined if the series belong to no tenant. */
  readonly tenantLabel: string | undefined;
}

/** The metrics registry. */
export interface Metrics {
  readonly calls: CallMetrics;
  readonly contentType: string;
  /** Renders all metrics in the exposition format. */
  render(): Promise<string>;
  /** Renders each metric on its own, to be merged with those of other processes. */
  families(): Promise<MetricFamily[]>;
  /** Describes every metric, ordered by name. */
  describe(): readonly MetricDescription[];
  counter(settings: MetricSettings): Counter;
  /** A counter that tenants may query, if metrics are labelled by tenant. */
  tenantCounter(settings: MetricSettings): TenantCounter;
  /**
   * With `collect`, the value is read at every scrape. The processes of a machine add their values up; with `isShared`, each of
   * them reads the same value, such as a number of rows.
   */
  gauge(
    settings: MetricSettings & {
      readonly isShared?: boolean;
      readonly collect?: (gauge: Gauge) => void | Promise<void>;
    },
  ): Gauge;
  histogram(settings: MetricSettings & { readonly buckets: readonly number[] }): Histogram;
}

/**
 * Creates a registry with the metrics of the process and of calls. `tenantsMax` bounds the tenants that series name; 0 names
 * none.
 */
export function createMetrics({ tenantsMax = 0 }: { readonly tenantsMax?: number } = {}): Metrics {
  const registry = new Registry();
  const processRegistry = processMetrics();
  const textMetrics: TextMetric[] = [];
  const shared = new Set<string>();
  const ofProcess = processTextMetrics();
  const tenants = createTenantLabels(tenantsMax);
  const common = (settings: MetricSettings) => {
    rejectIdLabels(settings);
    const { name, help, labels } = settings;
    return { name, help, labelNames: labels ?? [], registers: [registry] };
  };
  return {
    calls: callMetrics(registry, textMetrics, tenants, ofProcess.answered),
    contentType: registry.contentType,
    render: async () => {
      const texts = await Promise.all([processRegistry.metrics(), registry.metrics()]);
      return `${[...texts, ...[...ofProcess.metrics, ...textMetrics].map(renderMetric)].join("\n")}\n`;
    },
    async families() {
      const familiesOf = (from: Registry, combine: (name: string) => MetricFamily["combine"]) =>
        from.getMetricsAsArray().map(async (metric) => {
          const { name, type } = describeMetric(metric);
          return { name, type, combine: combine(name), text: await from.getSingleMetricAsString(name) };
        });
      const familyOf = (metric: TextMetric, combine: MetricFamily["combine"]) => ({
        ...{ name: metric.name, type: metric.type, combine, text: renderMetric(metric) },
      });
      return Promise.all([
        ...familiesOf(processRegistry, () => "process"),
        ...familiesOf(registry, (name) => (shared.has(name) ? "max" : "sum")),
        ...ofProcess.metrics.map((metric) => familyOf(metric, "process")),
        ...textMetrics.map((metric) => familyOf(metric, "sum")),
      ]);
    },
    describe: () =>
      [
        ...[...processRegistry.getMetricsAsArray(), ...registry.getMetricsAsArray()],
        ...[...ofProcess.metrics, ...textMetrics],
      ]
        .map(describeMetric)
        .sort(byName),
    counter: (settings) => new Counter(common(settings)),
    tenantCounter: (settings) => {
      rejectIdLabels(settings);
      const counter = new CountingTenantCounter(settings, tenants);
      textMetrics.push(counter);
      return counter;
    },
    gauge: (settings) => {
      const { collect, isShared } = settings;
      if (isShared) shared.add(settings.name);
      const gauge: Gauge = new Gauge({ ...common(settings), ...(collect && { collect: () => collect(gauge) }) });
      return gauge;
    },
    histogram: (settings) => {
      rejectManyBuckets(settings);
      return new Histogram({ ...common(settings), buckets: [...settings.buckets] });
    },
  };
}

let defaultMetrics: Registry | undefined;

/** The metrics of the process, which all nodes in it share: their timers and observers cannot be stopped. */
function processMetrics(): Registry {
  if (defaultMetrics !== undefined) return defaultMetrics;
  defaultMetrics = new Registry();
  collectDefaultMetrics({ register: defaultMetrics });
  addEventLoopDelay(defaultMetrics);
  return defaultMetrics;
}

/** The metrics of one process that the runtime does not know. */
function processTextMetrics() {
  const answered = { count: 0 };
  const metric = (name: string, type: TextMetric["type"], help: string, value: () => number): TextMetric => ({
    ...{ name, type, help, labelNames: [] },
    lines: () => [`${name} ${value()}`],
  });
  return {
    answered,
    metrics: [
      metric("process_pid", "gauge", "Id of the process in the operating system.", () => process.pid),
      metric("process_calls_total", "counter", "Calls that the process has answered.", () => answered.count),
    ],
  };
}

function describeMetric(metric: object): MetricDescription {
  // prom-client's type of a metric lacks the names of its labels.
  const { name, help, type, labelNames } = metric as MetricSettings &
    Pick<MetricDescription, "type"> & {
      readonly labelNames: readonly string[];
    };
  const labels = labelNames.filter((label) => label !== tenantLabel);
  return { name, type, help, labels, tenantLabel: labels.length < labelNames.length ? tenantLabel : undefined };
}

function byName(a: MetricDescription, b: MetricDescription): number {
  return a.name < b.name ? -1 : 1;
}

function callMetrics(
  registry: Registry,
  textMetrics: TextMetric[],
  tenants: TenantLabels,
  answered: { count: number },
): CallMetrics {
  const durations = new CallHistogram(
    "rpc_server_call_duration_seconds",
    "Time from a call's arrival to its response, by operation, protocol, plane and code.",
    ["operation", "protocol", "plane", "code"],
  );
  textMetrics.push(durations);
  const byTenant = tenants.isEnabled
    ? new CountingTenantCounter(
        { name: "api_calls_total", help: "Calls of tenants, by code.", labels: ["code"] },
        tenants,
      )
    : undefined;
  if (byTenant !== undefined) textMetrics.push(byTenant);
  // Nested maps, because building a combined key string costs more than all lookups together.
  const activeCalls: Branch<Branch<ActiveCalls>> = new Map();
  const active = new Gauge({
    name: "rpc_server_active_calls",
    help: "Calls in progress, by protocol and plane.",
    labelNames: ["protocol", "plane"],
    registers: [registry],
    // The counts are copied at a scrape, because updating a prom-client gauge is as slow as updating its histogram.
    collect: () => {
      for (const [protocol, byPlane] of activeCalls)
        for (const [plane, { count }] of byPlane) active.set({ protocol, plane }, count);
    },
  });
  const activeCallsOf = (protocol: string, plane: string): ActiveCalls => {
    const byPlane = branch(activeCalls, protocol);
    let found = byPlane.get(plane);
    if (found === undefined) {
      found = { count: 0 };
      byPlane.set(plane, found);
    }
    return found;
  };
  const byOperation: Branch<Branch<Branch<Branch<Series>>>> = new Map();
  const seriesOf = (operation: string, protocol: string, plane: string, code: string): Series => {
    const byCode = branch(branch(branch(byOperation, operation), protocol), plane);
    let series = byCode.get(code);
    if (series === undefined) {
      series = durations.series({ operation, protocol, plane, code });
      byCode.set(code, series);
    }
    return series;
  };
  return {
    begin(protocol, plane) {
      activeCallsOf(protocol, plane).count++;
    },
    end(operation, protocol, plane, code, seconds, tenantId) {
      activeCallsOf(protocol, plane).count--;
      answered.count++;
      seriesOf(operation, protocol, plane, code).observe(seconds);
      if (tenantId !== undefined) byTenant?.inc(tenantId, { code });
    },
  };
}

type Branch<T> = Map<string, T>;

interface ActiveCalls {
  count: number;
}

function branch<T>(from: Branch<Branch<T>>, name: string): Branch<T> {
  let found = from.get(name);
  if (found === undefined) {
    found = new Map();
    from.set(name, found);
  }
  return found;
}

// A series per record would exhaust a scraper's memory and expose ids to every reader of the metrics. Tenants are bounded.
function rejectIdLabels({ name, labels }: MetricSettings): void {
  const bad = labels?.find((label) =>
    /(?:^|_)(?:id|ids|key|name|email|tenant|subject|user|address|path|url|message)$/.test(label),
  );
  if (bad !== undefined) {
    throw fail("INTERNAL", { cause: new Error(`Metric ${name}: the label ${bad} would contain ids or free text.`) });
  }
}

// Each bucket is a series of its own. The bucket of all values has no bound.
function rejectManyBuckets({ name, buckets }: MetricSettings & { readonly buckets: readonly number[] }): void {
  if (buckets.length > 11) throw fail("INTERNAL", { cause: new Error(`Metric ${name} has more than 12 buckets.`) });
}
