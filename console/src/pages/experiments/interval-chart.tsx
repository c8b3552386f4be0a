import type { ExperimentResults } from "@client/gen/experiment";
import { useRef } from "preact/hooks";
import { Card } from "../../ui/card";
import { useWidth } from "../../ui/chart";
import { formatPercent } from "../../ui/format";

const size = { row: 52, beside: 16, widthMax: 920 };

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
  return rows.length === 0 ? null : <Intervals rows={rows} />;
}

interface Interval {
  readonly name: string;
  readonly lift: number;
  readonly lower: number;
  readonly upper: number;
}

function Intervals({ rows }: { readonly rows: readonly Interval[] }) {
  const box = useRef<HTMLElement>(null);
  const width = Math.min(useWidth(box), size.widthMax);
  const reach = Math.max(
    0.05,
    ...rows.flatMap(({ lower, upper }) => [Math.abs(lower), Math.abs(upper)]).map((value) => Math.min(value, 2)),
  );
  const inner = width - 2 * size.beside;
  const x = (value: number) => size.beside + ((Math.max(-reach, Math.min(reach, value)) + reach) / (2 * reach)) * inner;
  const height = rows.length * size.row + 26;
  return (
    <Card title="Lift over the control">
      <figure class="chart" ref={box}>
        <svg aria-label={rows.map(sentenceOf).join(" ")} height={height} role="img">
          {[-reach, -reach / 2, 0, reach / 2, reach].map((tick) => (
            <g key={tick}>
              <line class={tick === 0 ? "cursor" : "grid"} x1={x(tick)} x2={x(tick)} y1="0" y2={height - 22} />
              <text class="axis" text-anchor="middle" x={x(tick)} y={height - 6}>
                {formatPercent(tick, 0)}
              </text>
            </g>
          ))}
          {rows.map(({ name, lift, lower, upper }, index) => {
            const y = index * size.row + size.row * 0.6;
            const isClear = lower > 0 || upper < 0;
            return (
              <g key={name} style={{ color: isClear ? (lower > 0 ? "var(--ok)" : "var(--bad)") : "var(--series-1)" }}>
                <text class="axis" x="0" y={y - 14}>
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
                <text class="axis" text-anchor="end" x={width} y={y - 14}>
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

function sentenceOf({ name, lift, lower, upper }: Interval): string {
  return `${name}: ${formatPercent(lift)}, between ${formatPercent(lower)} and ${formatPercent(upper)}.`;
}
