import { fail, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Catalogue } from "./catalogue.ts";
import { limits } from "./limits.ts";

/** A series as the store returns it: its labels, and pairs of seconds and values. */
export interface StoredSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

/** A series as the caller gets it. */
export interface ResultSeries {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

/** Converts the store's series. Labels that the scrape added would show the deployment's nodes, so a number replaces them. */
export function toResultSeries(
  stored: readonly StoredSeries[],
  tenantId: TenantId,
  catalogue: Catalogue,
): readonly ResultSeries[] {
  checkSize(stored);
  const all = [...catalogue.series.values()];
  const shown = new Set(all.flatMap(({ labels }) => [...labels]));
  const ownerLabels = new Set(all.map(({ tenantLabel }) => tenantLabel));
  const nodes = new Map<string, string>();
  return stored.map(({ metric, values }) => {
    const { __name__: name = "", ...rest } = metric;
    const entries = Object.entries(rest).filter(([label, value]) => {
      if (!ownerLabels.has(label)) return true;
      if (value === tenantId) return false;
      throw fail("INTERNAL", { cause: new Error("The metrics store returned a series of another tenant.") });
    });
    const hidden = entries.filter(([label]) => !shown.has(label));
    const labels = Object.fromEntries(entries.filter(([label]) => shown.has(label)));
    if (hidden.length > 0) labels.node = nodeOf(nodes, JSON.stringify(hidden.sort()));
    return {
      metric: name,
      labels,
      points: values.map(([atS, value]) => ({ atMs: Math.round(atS * 1000), value: toNumber(value) })),
    };
  });
}

function nodeOf(nodes: Map<string, string>, key: string): string {
  const known = nodes.get(key) ?? String(nodes.size + 1);
  nodes.set(key, known);
  return known;
}

function toNumber(value: string): number {
  if (value === "+Inf") return Number.POSITIVE_INFINITY;
  return value === "-Inf" ? Number.NEGATIVE_INFINITY : Number(value);
}

function checkSize(stored: readonly StoredSeries[]): void {
  if (stored.length > limits.seriesMax) {
    throw invalid(
      "query",
      "series_max",
      `has ${stored.length} series; aggregate them to ${limits.seriesMax} at most, for example with sum`,
    );
  }
  const points = stored.reduce((sum, { values }) => sum + values.length, 0);
  if (points > limits.resultPointsMax) {
    throw invalid(
      "step_s",
      "points_max",
      `is too small: the result has ${points} points, and ${limits.resultPointsMax} at most are returned`,
    );
  }
}
