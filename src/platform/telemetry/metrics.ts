import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { fail } from "../../errors/index.ts";
import { CallHistogram, type Series } from "./call-histogram.ts";
import { addEventLoopDelay } from "./event-loop-delay.ts";

/** The metrics of calls. Every argument is one of a fixed set: an operation of the definitions, a code of the catalogue. */
export interface CallMetrics {
  /** A call came in. */
  begin(protocol: string, plane: string): void;
  /** It was answered; `code` is `OK` or the code of the catalogue. */
  end(operation: string, protocol: string, plane: string, code: string, seconds: number): void;
}

interface MetricSettings {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The registry, and the ways to add to it. */
export interface Metrics {
  readonly calls: CallMetrics;
  readonly contentType: string;
  /** The text that a scraper gets. */
  render(): Promise<string>;
  counter(settings: MetricSettings): Counter;
  /** With `collect`, the value is asked for at every scrape. */
  gauge(settings: MetricSettings & { readonly collect?: (gauge: Gauge) => void | Promise<void> }): Gauge;
  histogram(settings: MetricSettings & { readonly buckets: readonly number[] }): Histogram;
}

/** A registry with the process's own metrics and those of calls. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addEventLoopDelay(registry);
  const common = (settings: MetricSettings) => {
    refuseIds(settings);
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
    "Time from a call's arrival to its answer, by operation, protocol, plane and code.",
    registry,
  );
  // Looked up by strings that exist already, one after the other: joining them into one key costs more than the rest.
  const flights: Branch<Branch<Flight>> = new Map();
  const active = new Gauge({
    name: "rpc_server_active_calls",
    help: "Calls that have come in and are not answered yet, by protocol and plane.",
    labelNames: ["protocol", "plane"],
    registers: [registry],
    // Copied over at a scrape, for the same reason that the histogram is our own.
    collect: () => {
      for (const [protocol, byPlane] of flights)
        for (const [plane, { count }] of byPlane) active.set({ protocol, plane }, count);
    },
  });
  const flight = (protocol: string, plane: string): Flight => {
    const byPlane = branch(flights, protocol);
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
      flight(protocol, plane).count++;
    },
    end(operation, protocol, plane, code, seconds) {
      flight(protocol, plane).count--;
      seriesOf(operation, protocol, plane, code).observe(seconds);
    },
  };
}

type Branch<T> = Map<string, T>;

interface Flight {
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

// One series a tenant or record fills a scraper's memory and shows ids to whoever may read metrics.
function refuseIds({ name, labels }: MetricSettings): void {
  const bad = labels?.find((label) =>
    /(?:^|_)(?:id|ids|key|name|email|tenant|subject|user|address|path|url|message)$/.test(label),
  );
  if (bad !== undefined) {
    throw fail("INTERNAL", { cause: new Error(`Metric ${name}: the label ${bad} would hold ids or free text.`) });
  }
}
