// Reports a test run of many files: a line for each file as it ends, failures at once and in full, and at the end the
// counts and the slowest files. TEST_FILES says how many files there are.
import { relative } from "node:path";
import { inspect } from "node:util";

const slowestMax = 10;

export default async function* report(events) {
  const total = Number(process.env.TEST_FILES) || 0;
  const startedAt = performance.now();
  const files = [];
  const failures = [];
  for await (const { type, data } of events) {
    if (type === "test:fail" && isCause(data)) {
      const title = `${pathOf(data)}: ${data.name}`;
      failures.push(title);
      yield `FAIL ${title}\n${indented(errorText(data.details.error))}\n`;
    } else if (type === "test:stderr" || type === "test:stdout") {
      yield data.message;
    } else if (type === "test:summary" && data.file !== undefined) {
      const { passed, tests } = data.counts;
      files.push({ path: relative(process.cwd(), data.file), ms: data.duration_ms });
      const left = total > files.length ? `, ${secondsText(leftMs(startedAt, files.length, total))} left` : "";
      const mark = data.success ? "ok  " : "FAIL";
      yield `[${files.length}/${total || "?"}] ${mark} ${files.at(-1).path} (${passed} of ${tests}, ${secondsText(data.duration_ms)}${left})\n`;
    } else if (type === "test:summary") {
      yield summaryText(data, files, failures);
    }
  }
}

/** Whether a failure is the cause, and not a suite that failed for what is in it. */
function isCause({ details }) {
  return details.error?.failureType !== "subtestsFailed";
}

function pathOf({ file }) {
  return file === undefined ? "?" : relative(process.cwd(), file);
}

function errorText(error) {
  const cause = error?.cause ?? error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
}

function indented(text) {
  return text.replaceAll(/^/gm, "  ");
}

function leftMs(startedAt, done, total) {
  return ((performance.now() - startedAt) / done) * (total - done);
}

function summaryText({ counts, duration_ms: ms }, files, failures) {
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, slowestMax);
  const lines = [
    "",
    "Slowest files:",
    ...slowest.map(({ path, ms: each }) => `  ${secondsText(each).padStart(8)}  ${path}`),
    "",
    `${counts.passed} passed, ${counts.failed + counts.cancelled} failed, ${counts.skipped} skipped in ${files.length} files, ${secondsText(ms)}`,
  ];
  if (failures.length > 0) lines.push("", "Failed:", ...failures.map((each) => `  ${each}`));
  return `${lines.join("\n")}\n`;
}

/** A duration as people read it. */
export function secondsText(ms) {
  const seconds = ms / 1000;
  return seconds < 90 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`;
}
