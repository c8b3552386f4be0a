import type { OperationalHealthEvidence, OperationalHealthSignal } from "@client/gen/operational-health";
import { formatCount, formatSeconds, words } from "../../ui/format";
import { type Column, Table } from "../../ui/table";
import { Status, type Tone } from "../../ui/text";

const tones: Readonly<Record<string, Tone>> = { healthy: "ok", degraded: "warn", unhealthy: "bad", unknown: "info" };

const quantity = (
  title: string,
  width: string,
  quantityOf: (signal: OperationalHealthSignal) => number | undefined,
): Column<OperationalHealthSignal> => ({
  title,
  width,
  isNumber: true,
  value: quantityOf,
  render: (signal) => formatQuantity(quantityOf(signal), signal.unit),
});

const columns: readonly Column<OperationalHealthSignal>[] = [
  { title: "Signal", width: "250px", value: ({ title }) => title },
  {
    title: "Level",
    width: "125px",
    value: ({ level }) => level,
    render: ({ level }) => <Status of={level} tone={tones[level] ?? "muted"} />,
  },
  quantity("Value", "95px", ({ value }) => value),
  quantity("Degraded from", "112px", ({ degraded_at }) => degraded_at),
  quantity("Unhealthy from", "116px", ({ unhealthy_at }) => unhealthy_at),
  quantity("Unknown above", "118px", ({ unknown_above }) => unknown_above),
  { title: "Evidence", value: ({ evidence }) => evidence.map(evidenceText).join(", ") || "–" },
];

/** The signals of a report, in the order of the ruleset. */
export function Signals({ signals }: { readonly signals: readonly OperationalHealthSignal[] }) {
  return <Table columns={columns} keyOf={({ name }) => name} label="Signals" rows={signals} />;
}

/** The name of a duration ends with its unit. */
function evidenceText({ name, value }: OperationalHealthEvidence): string {
  const isDuration = name.endsWith("_s");
  const title = words(isDuration ? name.slice(0, -2) : name).toLowerCase();
  return `${title} ${formatQuantity(value, isDuration ? "seconds" : "count")}`;
}

function formatQuantity(value: number | undefined, unit: string): string {
  if (value === undefined) return "–";
  if (unit === "percent") return `${value} %`;
  if (unit === "seconds") return formatSeconds(value);
  if (unit === "milliseconds") return formatSeconds(value / 1000);
  return formatCount(value);
}
