import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../format";

/** One line of a chart. */
export interface Series {
  readonly name: string;
  /** One value for each position; undefined where there is none. */
  readonly values: readonly (number | undefined)[];
  /** Lower and upper bounds, drawn as a band. */
  readonly band?: readonly (readonly [number, number] | undefined)[];
}

/** Something that happened at a time. */
export interface Mark {
  readonly atMs: number;
  readonly text: string;
}

interface Props {
  readonly label: string;
  /** The text of each position. */
  readonly positions: readonly string[];
  /** The time of each position in milliseconds, where they are not equally far apart. */
  readonly times?: readonly number[];
  /** What happened meanwhile. They need times. */
  readonly marks?: readonly Mark[];
  readonly series: readonly Series[];
  readonly height?: number;
  readonly format?: (value: number) => string;
  /** A value that is marked with a line, such as zero. */
  readonly baseline?: number;
}

const room = { left: 46, right: 8, top: 8, bottom: 22 };
/** The width of a character of an axis, and the space beside its text. */
const axisText = { character: 6.5, beside: 10 };
const colours = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)"];

/** A line chart. It has a table with the same values for people who cannot see it. */
export function Chart(props: Props) {
  const { label, positions, times = positions.map((_, index) => index), marks = [], series, baseline } = props;
  const { height = 180, format = formatCount } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [at, setAt] = useState<number>();

  const scale = scaleOf(series, baseline);
  const longest = Math.max(...scale.ticks.map((tick) => format(tick).length));
  const pad = { ...room, left: Math.max(room.left, longest * axisText.character + axisText.beside) };
  const inner = { width: width - pad.left - pad.right, height: height - pad.top - pad.bottom };
  const [from = 0, until = 0] = [times[0], times.at(-1)];
  const xAt = (time: number) => pad.left + (until === from ? 0 : ((time - from) / (until - from)) * inner.width);
  const x = (index: number) => xAt(times[index]!);
  const y = (value: number) => pad.top + (1 - (value - scale.min) / (scale.max - scale.min)) * inner.height;
  const shown = at ?? positions.length - 1;
  const point = (event: MouseEvent) => {
    const { left } = box.current!.getBoundingClientRect();
    const time = from + ((event.clientX - left - pad.left) / inner.width) * (until - from);
    const after = times.findIndex((each) => each >= time);
    if (after === -1) setAt(times.length - 1);
    else setAt(after > 0 && time - times[after - 1]! < times[after]! - time ? after - 1 : after);
  };

  return (
    <figure class="chart" onMouseLeave={() => setAt(undefined)} onMouseMove={point} ref={box}>
      <div aria-hidden="true" class="legend">
        {series.map(({ name, values }, index) => (
          <span key={name} style={{ "--swatch": colours[index % colours.length] }}>
            {name} <b>{values[shown] === undefined ? "–" : format(values[shown]!)}</b>
          </span>
        ))}
        {at !== undefined && <span class="faint">{positions[at]}</span>}
      </div>
      <svg aria-label={label} height={height} role="img">
        {scale.ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={pad.left} x2={width - pad.right} y1={y(tick)} y2={y(tick)} />
            <text class="axis" text-anchor="end" x={pad.left - 8} y={y(tick) + 4}>
              {format(tick)}
            </text>
          </g>
        ))}
        {baseline !== undefined && (
          <line class="cursor" x1={pad.left} x2={width - pad.right} y1={y(baseline)} y2={y(baseline)} />
        )}
        {series.map(({ name, values, band }, index) => (
          <g key={name} style={{ color: colours[index % colours.length] }}>
            {band ? (
              <path class="area" d={bandPath(band, x, y)} fill="currentColor" />
            ) : (
              <path class="area" d={areaPath(values, x, y, y(scale.min))} fill="currentColor" />
            )}
            <path class="series" d={linePath(values, x, y)} stroke="currentColor" />
          </g>
        ))}
        {marks
          .filter(({ atMs }) => atMs >= from && atMs <= until)
          .map(({ atMs, text }) => (
            <g class="mark" key={`${atMs} ${text}`}>
              <title>{text}</title>
              <line x1={xAt(atMs)} x2={xAt(atMs)} y1={pad.top} y2={height - pad.bottom} />
              <circle cx={xAt(atMs)} cy={pad.top} r={3} />
            </g>
          ))}
        {at !== undefined && <line class="cursor" x1={x(at)} x2={x(at)} y1={pad.top} y2={height - pad.bottom} />}
        <text class="axis" x={pad.left} y={height - 4}>
          {positions[0]}
        </text>
        <text class="axis" text-anchor="end" x={width - pad.right} y={height - 4}>
          {positions.at(-1)}
        </text>
      </svg>
      <figcaption class="visually-hidden">
        <ValueTable format={format} label={label} positions={positions} series={series} />
      </figcaption>
    </figure>
  );
}

/** The width of an element, also when it changes. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(200, entry!.contentRect.width)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

const listedMax = 12;

/** The newest values as a table. */
function ValueTable({
  label,
  positions,
  series,
  format,
}: Required<Pick<Props, "label" | "positions" | "series" | "format">>) {
  const from = Math.max(0, positions.length - listedMax);
  return (
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">At</th>
          {series.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {positions.slice(from).map((position, index) => (
          <tr key={`${from + index}`}>
            <td>{position}</td>
            {series.map(({ name, values }) => {
              const value = values[from + index];
              return <td key={name}>{value === undefined ? "–" : format(value)}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Scale = (value: number) => number;

function linePath(values: Series["values"], x: Scale, y: Scale): string {
  let path = "";
  let isDown = false;
  for (const [index, value] of values.entries()) {
    if (value === undefined) {
      isDown = false;
      continue;
    }
    path += `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  }
  return path;
}

/** The area under a line, down to the bottom at both sides of each gap. */
function areaPath(values: Series["values"], x: Scale, y: Scale, bottom: number): string {
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    const at = x(index).toFixed(1);
    path += `${values[index - 1] === undefined ? `M${at} ${bottom}` : ""}L${at} ${y(value).toFixed(1)}`;
    if (values[index + 1] === undefined) path += `L${at} ${bottom}Z`;
  }
  return path;
}

function bandPath(band: NonNullable<Series["band"]>, x: Scale, y: Scale): string {
  const known = [...band.entries()].filter(
    (entry): entry is [number, readonly [number, number]] => entry[1] !== undefined,
  );
  if (known.length < 2) return "";
  const upper = known.map(([index, [, high]]) => `${x(index).toFixed(1)} ${y(high).toFixed(1)}`);
  const lower = known.map(([index, [low]]) => `${x(index).toFixed(1)} ${y(low).toFixed(1)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

/** A range of round numbers that contains all values. */
function scaleOf(
  series: readonly Series[],
  baseline: number | undefined,
): { min: number; max: number; ticks: number[] } {
  const values = series
    .flatMap(({ values: line, band }) => [...line, ...(band ?? []).flatMap((range) => range ?? [])])
    .filter((value): value is number => value !== undefined && Number.isFinite(value));
  if (baseline !== undefined) values.push(baseline);
  const low = Math.min(0, ...values);
  const high = Math.max(...values, low + (baseline === undefined ? 1 : 0.0001));
  const step = roundStep((high - low) / 3);
  const min = Math.floor(low / step) * step;
  const max = Math.ceil(high / step) * step;
  const count = Math.round((max - min) / step);
  return { min, max, ticks: Array.from({ length: count + 1 }, (_, index) => min + index * step) };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough)!;
  return factor * power;
}
