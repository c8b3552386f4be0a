import { tableText } from "../output/table.ts";
import { promises } from "./promises.ts";
import type { Progress } from "./proof-run.ts";

/** What a running proof shows: its operations, its faults and what they say about each promise so far. */
export function formatScreen(progress: Progress, totalS: number, width: number): string {
  const { seconds, round, phase, nodes, acknowledged, refused, faults, verdicts, unanswered, slowestMs } = progress;
  const operations = Object.entries(acknowledged).map(([name, count]) => [name, count.toLocaleString("en")]);
  const broken = Object.entries(faults).map(([name, count]) => [name, String(count)]);
  const rows = promises.map(({ id, text }) => {
    const { tested, violations } = verdicts.get(id) ?? { tested: 0, violations: [] };
    const result = violations.length > 0 ? "BROKEN" : tested > 0 ? "holds" : "";
    return [text, tested.toLocaleString("en"), result];
  });
  const table = (headings: readonly string[], lines: readonly (readonly string[])[]) =>
    tableText(headings, lines, width) ?? "";
  return [
    `${phase}, round ${round}, ${seconds} of ${totalS} s`,
    nodes.map((state, at) => `node ${at + 1} ${state}`).join("   "),
    `${unanswered} calls wait for an answer, the longest answer took ${(slowestMs / 1000).toFixed(1)} s, ${refused} reports refused`,
    "",
    table(["acknowledged", "operations"], operations),
    "",
    table(["fault", "injected"], broken),
    "",
    table(["promise", "tested by", "so far"], rows),
    "",
  ].join("\n");
}
