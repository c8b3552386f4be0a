import { type TenantLabels, tenantLabel } from "./tenant-labels.ts";
import { formatLabels, type TextMetric } from "./text-metric.ts";

type Labels = Readonly<Record<string, string>>;

/** A counter whose series belong to tenants, which may query them. */
export interface TenantCounter {
  inc(tenantId: string, labels?: Labels, count?: number): void;
}

interface Settings {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

interface Series {
  /** The line without its value. */
  readonly head: string;
  value: number;
}

/**
 * Counts by tenant if metrics are labelled by tenant, and for all tenants together otherwise. An increment is two
 * lookups.
 */
export class CountingTenantCounter implements TenantCounter, TextMetric {
  readonly name: string;
  readonly help: string;
  readonly type = "counter";
  readonly labelNames: readonly string[];
  readonly #ownLabels: readonly string[];
  readonly #tenants: TenantLabels;
  readonly #byTenant = new Map<string, Map<string, Series>>();

  constructor({ name, help, labels = [] }: Settings, tenants: TenantLabels) {
    this.name = name;
    this.help = help;
    this.#ownLabels = labels;
    this.#tenants = tenants;
    this.labelNames = tenants.isEnabled ? [...labels, tenantLabel] : labels;
    if (this.labelNames.length === 0) this.inc("", {}, 0);
  }

  inc(tenantId: string, labels: Labels = {}, count = 1): void {
    this.#seriesOf(this.#tenants.of(tenantId), labels).value += count;
  }

  lines(): string[] {
    return [...this.#byTenant.values()].flatMap((byLabels) =>
      Array.from(byLabels.values(), ({ head, value }) => `${head} ${value}`),
    );
  }

  #seriesOf(tenant: string, labels: Labels): Series {
    let byLabels = this.#byTenant.get(tenant);
    if (byLabels === undefined) {
      byLabels = new Map();
      this.#byTenant.set(tenant, byLabels);
    }
    let key = "";
    for (const name of this.#ownLabels) key += `${labels[name]}\n`;
    let series = byLabels.get(key);
    if (series === undefined) {
      const text = formatLabels(tenant === "" ? labels : { ...labels, [tenantLabel]: tenant });
      series = { head: text === "" ? this.name : `${this.name}{${text}}`, value: 0 };
      byLabels.set(key, series);
    }
    return series;
  }
}
