import { createTenantLabels, type TenantLabels, tenantLabel } from "./tenant-labels.ts";

/** A metric of one process, in the exposition format. */
export interface MetricFamily {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  /**
   * How the values of several processes become one: their sum, or the largest if all of them read the same. With `process` there
   * is no such value, and every process has series of its own.
   */
  readonly combine: "sum" | "max" | "process";
  /** Its head and its lines. */
  readonly text: string;
}

interface MergedFamily extends Pick<MetricFamily, "type" | "combine"> {
  readonly head: string;
  /** The values by the part of a line before them. */
  readonly values: Map<string, number>;
}

type Families = Map<string, MergedFamily>;

/**
 * Creates the merger of the metrics of a machine's processes. Each of them names the first tenants that it sees, so that they name
 * different ones; here, the first `tenantsMax` of all keep their names, however many processes there have been. What a process counted stays in the sums after its end: a sum that
 * falls would look like a restart, and every rate of that interval would be wrong.
 */
export function createMetricsMerger(tenantsMax: number) {
  const ended: Families = new Map();
  const tenants = createTenantLabels(tenantsMax);
  return {
    /** Keeps the counts of a process that has ended. */
    retire(families: readonly MetricFamily[]): void {
      addFamilies(
        ended,
        tenants,
        families.filter(({ type, combine }) => type !== "gauge" && combine === "sum"),
      );
    },
    /** Renders the metrics of all processes, each with its number. One without a number is about to end and shows only its counts. */
    render(processes: Iterable<readonly [number: number | undefined, families: readonly MetricFamily[]]>): string {
      const merged: Families = new Map();
      for (const [number, families] of processes) addFamilies(merged, tenants, families, number);
      for (const [name, { values, ...family }] of ended) {
        const target = familyIn(merged, name, family);
        for (const [series, value] of values) combineInto(target, series, value);
      }
      return `${[...merged.values()].map(renderFamily).join("\n")}\n`;
    },
  };
}

const tenantPattern = new RegExp(`(?<=[{,]${tenantLabel}=")[^"]*`);

function addFamilies(
  target: Families,
  tenants: TenantLabels,
  families: readonly MetricFamily[],
  number?: number,
): void {
  for (const { name, type, combine, text } of families) {
    if (combine === "process" && number === undefined) continue;
    const lines = text.split("\n");
    const head = lines.filter((line) => line.startsWith("#")).join("\n");
    const family = familyIn(target, name, { type, combine, head });
    for (const line of lines) {
      if (line === "" || line.startsWith("#")) continue;
      const at = line.lastIndexOf(" ");
      const series = line.slice(0, at).replace(tenantPattern, (tenantId) => tenants.of(tenantId));
      combineInto(
        family,
        combine === "process" ? labelled(series, `process="${number}"`) : series,
        Number(line.slice(at)),
      );
    }
  }
}

function familyIn(families: Families, name: string, family: Omit<MergedFamily, "values">): MergedFamily {
  const found = families.get(name) ?? { ...family, values: new Map() };
  families.set(name, found);
  return found;
}

function combineInto({ combine, values }: MergedFamily, series: string, value: number): void {
  const before = values.get(series);
  if (before === undefined) values.set(series, value);
  else values.set(series, combine === "max" ? Math.max(before, value) : before + value);
}

/** Adds a label to the part of a line before its value. */
function labelled(series: string, label: string): string {
  const brace = series.indexOf("{");
  return brace < 0 ? `${series}{${label}}` : `${series.slice(0, brace + 1)}${label},${series.slice(brace + 1)}`;
}

function renderFamily({ head, values }: MergedFamily): string {
  return [head, ...Array.from(values, ([series, value]) => `${series} ${value}`)].join("\n");
}
