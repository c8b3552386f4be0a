import type { EvidenceReceipt } from "../../../clients/typescript/src/index.ts";
import { tableText } from "../output/table.ts";
import { formatEvent } from "./history.ts";
import type { Violation } from "./invariant.ts";
import type { ServicePromise } from "./promises.ts";

/** What a run showed about one promise. */
export interface PromiseResult extends Pick<ServicePromise, "id" | "text" | "document"> {
  /** The number of events that tested it. */
  readonly tested: number;
  /** What was measured; empty for most promises. */
  readonly detail: string;
  readonly status: "held" | "broken" | "not tested";
  readonly violations: readonly Violation[];
}

/** The result of a run. */
export interface ProofReport {
  /** `held`: every promise was tested and held. `incomplete`: some were not tested, or nothing was broken meanwhile. */
  readonly verdict: "held" | "broken" | "incomplete" | "failed";
  /** Why the run ended early; empty if it did not. */
  readonly failure: string;
  readonly version: string;
  readonly database: string;
  readonly nodes: number;
  readonly seed: number;
  readonly started_at: string;
  readonly seconds: number;
  readonly rounds: number;
  /** Acknowledged operations by name. */
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Calls that failed with an internal error, with what the node logged; they were repeated. */
  readonly internal_errors: readonly string[];
  readonly promises: readonly PromiseResult[];
}

/** What a run has shown. Without a fault it has shown nothing. */
export function verdictOf(report: Pick<ProofReport, "failure" | "faults" | "promises">): ProofReport["verdict"] {
  const { failure, faults, promises } = report;
  const has = (wanted: PromiseResult["status"]) => promises.some(({ status }) => status === wanted);
  if (has("broken")) return "broken";
  if (failure !== "") return "failed";
  return has("not tested") || sum(faults) === 0 ? "incomplete" : "held";
}

/** The report as a page of text. */
export function formatReport(report: ProofReport, receipt: EvidenceReceipt | undefined, width: number): string {
  const { acknowledged, faults, promises, failure } = report;
  const rows = promises.map(({ text, status, tested, detail, document }) => [
    ...[
      text,
      counted(tested),
      `${status === "broken" ? "BROKEN" : status}${detail === "" ? "" : ` (${detail})`}`,
      document,
    ],
  ]);
  return [
    `Switchyard ${report.version} on ${report.database}, ${report.nodes} nodes, ${report.seconds} s, seed ${report.seed}`,
    `acknowledged  ${counted(sum(acknowledged))} operations (${listed(acknowledged)})`,
    `faults        ${counted(sum(faults))} (${listed(faults)})`,
    "",
    tableText(["promise", "tested by", "result", "document"], rows, width) ?? "",
    ...promises.flatMap(formatViolations),
    ...report.internal_errors.map((error) => `\ninternal error: ${error}`),
    "",
    ...(receipt === undefined
      ? []
      : [
          `Evidence receipt ${receipt.id} (${receipt.result}) in the pack ${receipt.pack_id}, SHA-256 ${receipt.digest}`,
          "",
        ]),
    {
      held: "Every promise was tested, and held.",
      broken: "A promise is broken.",
      incomplete:
        "Every promise that was tested held, but some were not tested, or nothing was broken. Run for longer.",
      failed: `The run failed: ${failure}`,
    }[report.verdict],
    "",
  ].join("\n");
}

function formatViolations({ text, violations }: PromiseResult): string[] {
  return violations.flatMap(({ reason, subject, history, faults }) => [
    "",
    `BROKEN: ${text}. ${subject}: ${reason}`,
    ...history.map((event) => `  ${formatEvent(event)}`),
    ...(faults.length === 0 ? [] : ["  meanwhile:"]),
    ...faults.map((event) => `  ${formatEvent(event)}`),
  ]);
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const counted = (count: number) => count.toLocaleString("en");
const listed = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${counted(count)}`)
    .join(", ") || "none";
