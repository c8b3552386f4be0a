import type { MetricDescription } from "../../../../platform/telemetry/index.ts";

/** A metric that can be queried. */
export interface CatalogueMetric extends MetricDescription {
  /** The names of its series in a query. */
  readonly series: readonly string[];
}

/** The series of a metric, as selectors name them. */
export interface CatalogueSeries {
  /** The label that names the tenant of each series; undefined if they belong to no tenant. */
  readonly tenantLabel: string | undefined;
  readonly labels: ReadonlySet<string>;
}

/** Queryable metrics. */
export interface Catalogue {
  readonly metrics: readonly CatalogueMetric[];
  readonly series: ReadonlyMap<string, CatalogueSeries>;
}

/** Creates the catalogue from the metrics of the registry. Those of the whole deployment are part of it only if they may be queried. */
export function createCatalogue(described: readonly MetricDescription[], allowUnscoped: boolean): Catalogue {
  const allowed = described.filter(({ tenantLabel }) => tenantLabel !== undefined || allowUnscoped);
  const metrics = allowed.map((metric) => ({ ...metric, series: seriesOf(metric).map(([name]) => name) }));
  const series = allowed.flatMap((metric) =>
    seriesOf(metric).map(
      ([name, labels]) => [name, { tenantLabel: metric.tenantLabel, labels: new Set(labels) }] as const,
    ),
  );
  return { metrics, series: new Map(series) };
}

/** The names of a metric's series, with their labels. */
function seriesOf({ name, type, labels }: MetricDescription): readonly (readonly [string, readonly string[]])[] {
  switch (type) {
    case "histogram":
      return [
        [`${name}_bucket`, [...labels, "le"]],
        [`${name}_sum`, labels],
        [`${name}_count`, labels],
      ];
    case "summary":
      return [
        [name, [...labels, "quantile"]],
        [`${name}_sum`, labels],
        [`${name}_count`, labels],
      ];
    default:
      return [[name, labels]];
  }
}
