// Draws docs/guides/confidence-sequence.svg: one experiment without a difference and one with, from the analysis itself.
import { writeFileSync } from "node:fs";
import type { analyse } from "../src/modules/experiments/analysis/index.ts";
import { runExperiment } from "../src/modules/experiments/analysis/testing/whole-analysis.ts";

interface Look {
  units: number;
  difference: number;
  /** Half-widths of the confidence sequence and of an interval for one look. */
  sequence: number;
  fixed: number;
}

const units = 20_000;
const differenceMax = 0.08;
const panel = { width: 360, height: 240, left: 52, top: 44, gap: 56 };
const plan: Parameters<typeof analyse>[0] = {
  alpha: 0.05,
  plannedUnits: 10_000,
  control: "a",
  variants: ["a", "b"],
  metrics: [{ key: "conversion", type: "proportion", role: "success", direction: "increase", margin: 0 }],
};

const file = new URL("../docs/guides/confidence-sequence.svg", import.meta.url);
writeFileSync(file, picture());

function looksOf(treatmentRate: number, seed: number): Look[] {
  const looks: Look[] = [];
  runExperiment(
    {
      plan,
      phases: [{ weights: { a: 1, b: 1 }, units }],
      draw: (random, variant) => ({
        conversion: { value: random.unit() < (variant === "b" ? treatmentRate : 0.1) ? 1 : 0 },
      }),
      unitsPerLook: 100,
    },
    seed,
    ({ variants: [a, b] }, count) => {
      const { difference, interval } = b!.comparisons[0]!;
      if (interval === null) return;
      const squaredError = [a!, b!].reduce((sum, { metrics: [metric] }) => sum + metric!.variance! / metric!.n, 0);
      looks.push({
        units: count,
        difference: difference!,
        sequence: (interval.upper - interval.lower) / 2,
        fixed: 1.96 * Math.sqrt(squaredError),
      });
    },
  );
  return looks;
}

function picture(): string {
  const width = panel.left + 2 * panel.width + panel.gap + 16;
  const height = panel.top + panel.height + 74;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title" font-family="sans-serif" font-size="12">
<title id="title">Confidence sequences of two experiments, beside intervals for a single look</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${drawPanel(panel.left, "No difference", looksOf(0.1, 8), "fixed")}
${drawPanel(panel.left + panel.width + panel.gap, "2 percentage points more", looksOf(0.12, 22), "sequence")}
${legend(height - 14)}
</svg>
`;
}

/** Marks the first look at which an interval excludes 0. */
function drawPanel(left: number, title: string, looks: readonly Look[], marked: "sequence" | "fixed"): string {
  const x = (count: number) => round(left + (count / units) * panel.width);
  const y = (value: number) => {
    const clamped = Math.max(-differenceMax, Math.min(differenceMax, value));
    return round(panel.top + ((differenceMax - clamped) / (2 * differenceMax)) * panel.height);
  };
  const line = (value: (look: Look) => number) => looks.map((look) => `${x(look.units)},${y(value(look))}`).join(" ");
  const upper = line(({ difference, sequence }) => difference + sequence);
  const lower = line(({ difference, sequence }) => difference - sequence);
  const band = `${upper} ${lower.split(" ").reverse().join(" ")}`;
  const found = looks.find((look) => Math.abs(look.difference) > look[marked]);
  const label = marked === "fixed" ? "a single-look test is wrong here" : "winner from here on";
  const mark =
    found === undefined
      ? ""
      : `<line x1="${x(found.units)}" x2="${x(found.units)}" y1="${panel.top}" y2="${panel.top + panel.height}" stroke="#b3261e" stroke-dasharray="2 3"/>
<text x="${x(found.units) + 6}" y="${panel.top + panel.height - 10}" fill="#b3261e">${label}</text>`;
  const ticks = [-0.08, -0.04, 0, 0.04, 0.08].map(
    (value) =>
      `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end" fill="#555555">${value > 0 ? "+" : ""}${round(value * 100)} %</text>`,
  );
  const counts = [0, 10_000, 20_000].map(
    (count) =>
      `<text x="${x(count)}" y="${panel.top + panel.height + 16}" text-anchor="middle" fill="#555555">${count === 0 ? 0 : `${count / 1000}k`}</text>`,
  );
  return `<text x="${left}" y="${panel.top - 14}" font-size="14" font-weight="bold" fill="#222222">${title}</text>
<polygon points="${band}" fill="#c6dafc"/>
<polyline points="${line(({ difference, fixed }) => difference + fixed)}" fill="none" stroke="#b06000" stroke-dasharray="4 3"/>
<polyline points="${line(({ difference, fixed }) => difference - fixed)}" fill="none" stroke="#b06000" stroke-dasharray="4 3"/>
<polyline points="${line(({ difference }) => difference)}" fill="none" stroke="#174ea6" stroke-width="1.5"/>
<line x1="${left}" x2="${left + panel.width}" y1="${y(0)}" y2="${y(0)}" stroke="#222222"/>
${mark}
<rect x="${left}" y="${panel.top}" width="${panel.width}" height="${panel.height}" fill="none" stroke="#bbbbbb"/>
${[...ticks, ...counts].join("\n")}
<text x="${left + panel.width / 2}" y="${panel.top + panel.height + 34}" text-anchor="middle" fill="#555555">mature units</text>`;
}

function legend(y: number): string {
  const entry = (x: number, sample: string, text: string) =>
    `${sample}<text x="${x + 34}" y="${y}" fill="#222222">${text}</text>`;
  const stroke = (x: number, style: string) => `<line x1="${x}" x2="${x + 26}" y1="${y - 4}" y2="${y - 4}" ${style}/>`;
  return [
    entry(52, `<rect x="52" y="${y - 11}" width="26" height="13" fill="#c6dafc"/>`, "confidence sequence"),
    entry(232, stroke(232, 'stroke="#174ea6" stroke-width="1.5"'), "difference so far"),
    entry(392, stroke(392, 'stroke="#b06000" stroke-dasharray="4 3"'), "interval that is valid for one look only"),
  ].join("\n");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
