import { formatLabels, type TextMetric } from "./text-metric.ts";

/** Bucket bounds in seconds. With the one for longer calls there are twelve buckets. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The durations of one combination of labels. */
export interface Series {
  observe(seconds: number): void;
}

/**
 * A histogram with a cost of nanoseconds per observation: a caller holds on to its series, so that an observation is three
 * additions. A series exists from its first observation.
 */
export class CallHistogram implements TextMetric {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly labelNames: readonly string[];
  readonly #series: CountingSeries[] = [];

  constructor(name: string, help: string, labelNames: readonly string[]) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
  }

  /** Creates the series of a combination of labels. Callers create each series once and hold on to it. */
  series(labels: Readonly<Record<string, string>>): Series {
    const series = new CountingSeries(this.name, formatLabels(labels));
    this.#series.push(series);
    return series;
  }

  lines(): string[] {
    return this.#series.flatMap((series) => series.lines());
  }
}

class CountingSeries implements Series {
  readonly #heads: readonly string[];
  readonly #sumHead: string;
  readonly #countHead: string;
  readonly #counts = new Float64Array(bounds.length + 1);
  #sum = 0;

  constructor(name: string, labels: string) {
    this.#heads = [...bounds, "+Inf"].map((bound) => `${name}_bucket{${labels},le="${bound}"} `);
    this.#sumHead = `${name}_sum{${labels}} `;
    this.#countHead = `${name}_count{${labels}} `;
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    this.#counts[at]!++;
    this.#sum += seconds;
  }

  lines(): string[] {
    let total = 0;
    const lines = this.#heads.map((head, at) => {
      total += this.#counts[at]!;
      return head + total;
    });
    lines.push(this.#sumHead + this.#sum, this.#countHead + total);
    return lines;
  }
}
