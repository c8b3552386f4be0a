import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { fail } from "../../errors/index.ts";
import { CallHistogram, type Series } from "./call-histogram.ts";
import { addEventLoopDelay } from "./event-loop-delay.ts";

/** The metrics of calls. Every argument has a fixed set of values, such as operations and error codes. */
export interface CallMetrics {
  /** Records the start of a call. */
  begin(protocol: string, plane: string): void;
  /** Records the end of a call; `code` is `OK` or an error code of the catalogue. */
  end(operation: string, protocol: string, plane: string, code: string, seconds: number): void;
}

interface MetricSettings {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The metrics registry. */
export interface Metrics {
  readonly calls: CallMetrics;
  readonly contentType: string;
  /** Renders all metrics in the exposition format. */
  render(): Promise<string>;
  counter(settings: MetricSettings): Counter;
  /** With `collect`, the value is read at every scrape. */
  gauge(settings: MetricSettings & { readonly collect?: (gauge: Gauge) => void | Promise<void> }): Gauge;
  histogram(settings: MetricSettings & { readonly buckets: readonly number[] }): Histogram;
}

/** Creates a registry with the metrics of the process and of calls. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addEventLoopDelay(registry);
  const common = (settings: MetricSettings) => {
    rejectIdLabels(settings);
    const { name, help, labels } = settings;
    return { name, help, labelNames: labels ?? [], registers: [registry] };
  };
  return {
    calls: callMetrics(registry),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    counter: (settings) => new Counter(common(settings)),
    gauge: (settings) => {
      const { collect } = settings;
      const gauge: Gauge = new Gauge({ ...common(settings), ...(collect && { collect: () => collect(gauge) }) });
      return gauge;
    },
    histogram: (settings) => new Histogram({ ...common(settings), buckets: [...settings.buckets] }),
  };
}

function callMetrics(registry: Registry): CallMetrics {
  const durations = new CallHistogram(
    "rpc_server_call_duration_seconds",
    "Time from a call's arrival to its response, by operation, protocol, plane and code.",
    registry,
  );
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
    end(operation, protocol, plane, code, seconds) {
      activeCallsOf(protocol, plane).count--;
      seriesOf(operation, protocol, plane, code).observe(seconds);
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

// A series per tenant or record would exhaust a scraper's memory and expose ids to every reader of the metrics.
function rejectIdLabels({ name, labels }: MetricSettings): void {
  const bad = labels?.find((label) =>
    /(?:^|_)(?:id|ids|key|name|email|tenant|subject|user|address|path|url|message)$/.test(label),
  );
  if (bad !== undefined) {
    throw fail("INTERNAL", { cause: new Error(`Metric ${name}: the label ${bad} would contain ids or free text.`) });
  }
}
