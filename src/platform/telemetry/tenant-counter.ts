import type { Counter, Registry } from "prom-client";
import { type TenantLabels, tenantLabel } from "./tenant-labels.ts";

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
  readonly labels: Labels;
  value: number;
}

/**
 * Counts by tenant if metrics are labelled by tenant, and for all tenants together otherwise. An increment is two lookups,
 * where prom-client checks and serialises all labels. The values are collected at a scrape.
 */
export class CountingTenantCounter implements TenantCounter {
  readonly name: string;
  readonly help: string;
  readonly type = "counter";
  readonly aggregator = "sum";
  readonly labelNames: readonly string[];
  readonly #ownLabels: readonly string[];
  readonly #tenants: TenantLabels;
  readonly #byTenant = new Map<string, Map<string, Series>>();

  constructor({ name, help, labels = [] }: Settings, tenants: TenantLabels, registry: Registry) {
    this.name = name;
    this.help = help;
    this.#ownLabels = labels;
    this.#tenants = tenants;
    this.labelNames = tenants.isEnabled ? [...labels, tenantLabel] : labels;
    if (this.labelNames.length === 0) this.inc("", {}, 0);
    // The registry uses only `name` and `get`, but its type accepts only prom-client's own classes.
    registry.registerMetric(this as unknown as Counter);
  }

  inc(tenantId: string, labels: Labels = {}, count = 1): void {
    this.#seriesOf(this.#tenants.of(tenantId), labels).value += count;
  }

  /** The values in the format of prom-client's registry. */
  async get() {
    const values = [...this.#byTenant.values()].flatMap((series) => [...series.values()]);
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  reset(): void {
    this.#byTenant.clear();
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
      series = { labels: tenant === "" ? labels : { ...labels, [tenantLabel]: tenant }, value: 0 };
      byLabels.set(key, series);
    }
    return series;
  }
}
