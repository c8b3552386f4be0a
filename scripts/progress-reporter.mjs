// Reports a test run: one line per finished file, failures immediately and in full, then the counts, the slowest files
// and why tests were skipped at the end.
import { relative, resolve } from "node:path";
import { weightOf } from "./test-pool.mjs";

const slowestMax = 10;

/** Prints the events of a run of files as they arrive. Returns whether everything passed. */
export async function report(events, { files: expected, showTests, print = (text) => process.stdout.write(text) }) {
  const startedAt = performance.now();
  const total = expected.length;
  const totalWeight = sum(expected.map((path) => weightOf(resolve(path))));
  let doneWeight = 0;
  const files = [];
  const failures = [];
  const skips = [];
  const shown = new Map();
  // Names of the open suites and tests of each file, by nesting level.
  const open = new Map();
  for await (const { type, data } of events) {
    if (type === "test:start") {
      open.set(data.file, [...(open.get(data.file) ?? []).slice(0, data.nesting), data.name]);
    } else if (type === "test:fail" && data.failureType !== "subtestsFailed") {
      const title = `${pathOf(data)}: ${titleOf(data, open)}`;
      failures.push(title);
      print(`FAIL ${title}\n${indented(data.error)}\n`);
    } else if (type === "test:pass" && (data.skip !== undefined || !data.isSuite)) {
      if (data.skip !== undefined) skips.push(`${pathOf(data)}: ${titleOf(data, open)}: ${data.skip}`);
      if (!showTests) continue;
      const mark = data.skip === undefined ? "ok  " : "skip";
      const line = `  ${mark} ${titleOf(data, open)} (${secondsText(data.duration_ms)})\n`;
      shown.set(data.file, `${shown.get(data.file) ?? ""}${line}`);
    } else if (type === "test:summary" && data.file !== undefined) {
      const { passed, tests } = data.counts;
      files.push({ path: pathOf(data), ms: data.duration_ms, cpuMs: data.cpu_ms ?? 0 });
      doneWeight += weightOf(data.file);
      const leftMs = ((performance.now() - startedAt) / doneWeight) * (totalWeight - doneWeight);
      const left = total > files.length ? `, ${secondsText(leftMs)} left` : "";
      const mark = data.success ? "ok  " : "FAIL";
      const figures = `${passed} of ${tests}, ${secondsText(data.duration_ms)}${left}`;
      print(`[${files.length}/${total}] ${mark} ${pathOf(data)} (${figures})\n${shown.get(data.file) ?? ""}`);
    } else if (type === "test:summary") {
      print(summaryText(data, files, skips, failures));
      return data.success;
    }
  }
  return false;
}

function pathOf({ file }) {
  return file === undefined ? "?" : relative(process.cwd(), file);
}

/** The name of a test, prefixed with the names of its suites. */
function titleOf({ file, nesting, name }, open) {
  return [...(open.get(file) ?? []).slice(0, nesting), name].join(" > ");
}

function indented(text) {
  return text.replaceAll(/^/gm, "  ");
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function summaryText({ counts, duration_ms: ms }, files, skips, failures) {
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, slowestMax);
  const lines = [
    "",
    "Slowest files, with the CPU time of the process that ran them:",
    ...slowest.map((each) => {
      const [wall, cpu] = [each.ms, each.cpuMs].map((figure) => secondsText(figure).padStart(8));
      return `  ${wall} ${cpu}  ${each.path}`;
    }),
    "",
    `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${files.length} files, ${secondsText(ms)}`,
  ];
  if (skips.length > 0) lines.push("", "Skipped:", ...skips.map((each) => `  ${each}`));
  if (failures.length > 0) lines.push("", "Failed:", ...failures.map((each) => `  ${each}`));
  return `${lines.join("\n")}\n`;
}

/** Formats a duration in seconds for people. */
export function secondsText(ms) {
  const seconds = ms / 1000;
  return seconds < 90 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`;
}
