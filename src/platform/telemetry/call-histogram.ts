import type { Histogram, Registry } from "prom-client";

/** Seconds; OpenTelemetry's advice for the duration of calls, with two finer ones in front. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The durations of one combination of labels. */
export interface Series {
  observe(seconds: number): void;
}

/**
 * A histogram whose observation costs nanoseconds.
 *
 * prom-client spells and looks up all labels at every observation (about 0.9 µs here, even on a child made before).
 * A series found once and kept is three additions; prom-client's registry only asks for the values when it is scraped.
 */
export class CallHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #series: CountingSeries[] = [];

  constructor(name: string, help: string, registry: Registry) {
    this.name = name;
    this.help = help;
    // The registry needs a name and `get`, which is all that it calls; its type names its own classes only.
    registry.registerMetric(this as unknown as Histogram);
  }

  /** A new combination of labels; ask once for each and keep it. */
  series(labels: Readonly<Record<string, string>>): Series {
    const series = new CountingSeries(labels);
    this.#series.push(series);
    return series;
  }

  /** The values in the form that prom-client's registry prints. */
  async get() {
    const values = this.#series.flatMap((series) => series.values(this.name));
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  reset(): void {
    for (const series of this.#series) series.reset();
  }
}

class CountingSeries implements Series {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #counts = new Float64Array(bounds.length + 1);
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.#labels = labels;
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    this.#counts[at]!++;
    this.#sum += seconds;
  }

  values(name: string) {
    const labels = this.#labels;
    let total = 0;
    const buckets = Array.from(this.#counts, (count, at) => {
      total += count;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? "+Inf" }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }
}
