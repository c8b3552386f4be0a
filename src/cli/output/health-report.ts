import { styleText } from "node:util";
import { formatDuration, formatQuantity } from "../../platform/text/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "./printable.ts";
import type { OwnForm, PrintStyle } from "./printed-form.ts";

interface Signal {
  readonly title: string;
  readonly level: string;
  readonly unit: string;
  readonly value?: number;
  readonly degraded_at?: number;
  readonly unhealthy_at?: number;
  readonly unknown_above?: number;
}

interface Report {
  readonly id: string;
  readonly verdict: string;
  readonly confidence: string;
  readonly scope: { readonly environment: string };
  readonly window: { readonly start: string; readonly end: string; readonly period_s: number };
  readonly signals: readonly Signal[];
  readonly sources: readonly { readonly name: string; readonly freshness: string; readonly age_s?: number }[];
  readonly dependencies: readonly { readonly name: string; readonly state: string; readonly age_s?: number }[];
  readonly next_steps: readonly { readonly reason_code: string; readonly action: string; readonly runbook: string }[];
}

const exitCodesByVerdict: Readonly<Record<string, number>> = {
  healthy: exitCodes.ok,
  degraded: exitCodes.degraded,
  unhealthy: exitCodes.unhealthy,
};

const colours = {
  healthy: "green",
  degraded: "yellow",
  unhealthy: "red",
  unknown: "magenta",
  not_evaluated: "gray",
} as const;

type Paint = (level: string, text: string) => string;

/** The form of a health report. A verdict that this version does not know counts as unknown. */
export function healthReportForm(report: Report): OwnForm {
  return {
    exitCode: exitCodesByVerdict[report.verdict] ?? exitCodes.unknown,
    text: (style) => reportText(report, style),
  };
}

function reportText(report: Report, { isColoured, width }: PrintStyle): string {
  const { scope, window, verdict, confidence, signals, sources, dependencies, next_steps: steps } = report;
  const paint: Paint = (level, text) => {
    const colour = Object.hasOwn(colours, level) ? colours[level as keyof typeof colours] : colours.unknown;
    return isColoured ? styleText(colour, text, { validateStream: false }) : text;
  };
  const bold = (text: string) => (isColoured ? styleText("bold", text, { validateStream: false }) : text);
  const period = formatDuration(window.period_s * 1000);
  const states = [
    ...sources.map(({ name, freshness, age_s }) => ["source", name, freshness, age_s] as const),
    ...dependencies.map(({ name, state, age_s }) => ["dependency", name, state, age_s] as const),
  ];
  const blocks = [
    [
      `${bold(paint(verdict, printable(verdict).toUpperCase()))}  ${printable(scope.environment)}  confidence ${printable(confidence)}`,
      `${shortTime(window.start)} to ${shortTime(window.end)} (${period})`,
    ],
    [
      bold("Signals"),
      ...columns(
        signals.map((signal) => signalCells(signal, paint)),
        width,
      ),
    ],
    [
      bold("Sources and dependencies"),
      ...columns(
        states.map((state) => stateCells(state, paint)),
        width,
      ),
    ],
    steps.length === 0 ? [] : [bold("Next steps"), ...steps.flatMap(stepLines)],
    [`Report ${printable(report.id)}`],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** A text with the width that it has on the screen. */
interface Cell {
  readonly shown: string;
  readonly width: number;
}

function signalCells({ title, level, unit, value, ...limits }: Signal, paint: Paint): Cell[] {
  const { degraded_at: degraded, unhealthy_at: unhealthy, unknown_above: unknown } = limits;
  const thresholds = [
    degraded !== undefined && `degraded from ${formatQuantity(degraded, unit)}`,
    unhealthy !== undefined && `unhealthy from ${formatQuantity(unhealthy, unit)}`,
    unknown !== undefined && `unknown above ${formatQuantity(unknown, unit)}`,
  ].filter((each) => each !== false);
  return [
    cell(words(level), (text) => paint(level, text)),
    cell(title),
    cell(value === undefined ? "-" : formatQuantity(value, unit)),
    cell(thresholds.join(", ")),
  ];
}

const goodStates = new Set(["current", "available", "not_configured"]);

function stateCells([kind, name, state, ageS]: readonly [string, string, string, number | undefined], paint: Paint) {
  return [
    cell(words(state), (text) => paint(goodStates.has(state) ? "healthy" : "unknown", text)),
    cell(`${kind} ${words(name)}`),
    cell(ageS === undefined ? "-" : formatQuantity(ageS, "seconds")),
  ];
}

function stepLines({ reason_code: code, action, runbook }: Report["next_steps"][number], at: number): string[] {
  return [`  ${at + 1}. ${printable(action)}`, `     ${printable(code)}, ${printable(runbook)}`];
}

function cell(text: string, paint: (text: string) => string = (same) => same): Cell {
  const safe = printable(text);
  return { shown: paint(safe), width: safe.length };
}

/** Aligns cells. The last columns are left out if they do not fit. */
function columns(rows: readonly (readonly Cell[])[], width: number): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]!.width)));
  const ends = widths.map((_, at) => widths.slice(0, at + 1).reduce((sum, each) => sum + each + gap, 0));
  const shownMax = Math.max(1, ends.filter((end) => end <= width).length);
  return rows.map((row) => {
    const cells = row.slice(0, shownMax);
    const padded = cells.map(({ shown, width: own }, at) => shown + " ".repeat(widths[at]! - own));
    return `${" ".repeat(gap)}${padded.join(" ".repeat(gap)).trimEnd()}`;
  });
}

const gap = 2;

function shortTime(iso: string): string {
  return printable(iso).replace(/\.\d+(?=Z$)/, "");
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
