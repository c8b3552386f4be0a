import type { Interval } from "../analysis/index.ts";
import type { Results } from "./service.ts";

/** Results as a file. */
export interface ResultExport {
  readonly fileName: string;
  readonly contentType: string;
  readonly content: string;
}

const columns = [
  ...["variant", "is_control", "units", "mature_units", "metric", "role", "n", "missing", "mean", "variance"],
  ...["difference", "lower", "upper", "lift", "lift_lower", "lift_upper", "p_value", "state", "verdict"],
] as const;

/** Exports results as CSV (RFC 4180) or JSON. */
export function exportResults(results: Results, format: "csv" | "json"): ResultExport {
  const fileName = `${results.experiment.key}-results.${format}`;
  return format === "json"
    ? { fileName, contentType: "application/json", content: toJson(results) }
    : { fileName, contentType: "text/csv", content: toCsv(results) };
}

function toJson({ experiment, analysis, isFrozen, computedAt }: Results): string {
  const { id, key, status, design, phases, decision } = experiment;
  const head = { experiment_id: id, key, status, frozen: isFrozen, computed_at: computedAt.toISOString() };
  return `${JSON.stringify({ ...head, design, phases, decision, analysis }, undefined, 2)}\n`;
}

function toCsv({ analysis, experiment }: Results): string {
  const roles = new Map(experiment.design.metrics.map(({ key, role }) => [key, role]));
  const rows = analysis.variants.flatMap(({ variant, isControl, units, mature, metrics, comparisons, verdict }) =>
    metrics.map(({ key, n, missing, mean, variance }) => {
      const comparison = comparisons.find((each) => each.key === key);
      return [
        ...[variant, isControl, units, mature, key, roles.get(key), n, missing, mean, variance],
        ...[comparison?.difference, ...ends(comparison?.interval)],
        ...[comparison?.lift, ...ends(comparison?.liftInterval)],
        ...[comparison?.p, comparison?.state, verdict],
      ];
    }),
  );
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function ends(interval: Interval | null | undefined): [number | undefined, number | undefined] {
  return [interval?.lower, interval?.upper];
}

function cell(value: unknown): string {
  return value === null || value === undefined ? "" : String(value);
}
