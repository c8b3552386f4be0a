import type { ExperimentResults } from "@client/gen/experiment";
import { Card } from "../../ui/card";
import { formatPercent } from "../../ui/format";

const size = { width: 720, row: 44, left: 190, right: 90 };

/** The lift of each variant with its interval. An interval that does not contain zero is evidence. */
export function IntervalChart({ results }: { readonly results: ExperimentResults }) {
  const rows = results.variants.flatMap(({ variant, metrics }) =>
    metrics.flatMap(({ metric, comparison }) => {
      const { lift, lift_interval: interval } = comparison ?? {};
      return lift === undefined || interval === undefined
        ? []
        : [{ name: `${metric} of ${variant}`, lift, ...interval }];
    }),
  );
  if (rows.length === 0) return null;
  const reach = Math.max(
    0.05,
    ...rows.flatMap(({ lower, upper }) => [Math.abs(lower), Math.abs(upper)]).map((value) => Math.min(value, 2)),
  );
  const inner = size.width - size.left - size.right;
  const x = (value: number) => size.left + ((Math.max(-reach, Math.min(reach, value)) + reach) / (2 * reach)) * inner;
  const height = rows.length * size.row + 26;
  return (
    <Card title="Lift over the control">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard. */}
      <figure class="chart scroll" tabIndex={0}>
        <svg
          aria-label={rows.map(sentenceOf).join(" ")}
          role="img"
          style={{ minWidth: "560px", maxWidth: "920px" }}
          viewBox={`0 0 ${size.width} ${height}`}
        >
          {[-reach, -reach / 2, 0, reach / 2, reach].map((tick) => (
            <g key={tick}>
              <line class={tick === 0 ? "cursor" : "grid"} x1={x(tick)} x2={x(tick)} y1="0" y2={height - 22} />
              <text class="axis" text-anchor="middle" x={x(tick)} y={height - 6}>
                {formatPercent(tick, 0)}
              </text>
            </g>
          ))}
          {rows.map(({ name, lift, lower, upper }, index) => {
            const y = index * size.row + size.row / 2;
            const isClear = lower > 0 || upper < 0;
            return (
              <g key={name} style={{ color: isClear ? (lower > 0 ? "var(--ok)" : "var(--bad)") : "var(--series-1)" }}>
                <text class="axis" x="0" y={y + 4}>
                  {name}
                </text>
                <line
                  stroke="currentColor"
                  stroke-linecap="round"
                  stroke-width="5"
                  opacity="0.35"
                  x1={x(lower)}
                  x2={x(upper)}
                  y1={y}
                  y2={y}
                />
                <circle cx={x(lift)} cy={y} fill="currentColor" r="5" />
                <text class="axis" text-anchor="end" x={size.width} y={y + 4}>
                  {formatPercent(lift)}
                </text>
              </g>
            );
          })}
        </svg>
      </figure>
    </Card>
  );
}

function sentenceOf({
  name,
  lift,
  lower,
  upper,
}: {
  name: string;
  lift: number;
  lower: number;
  upper: number;
}): string {
  return `${name}: ${formatPercent(lift)}, between ${formatPercent(lower)} and ${formatPercent(upper)}.`;
}
