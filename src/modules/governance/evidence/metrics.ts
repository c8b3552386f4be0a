import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { ReceiptResult } from "./domain/receipt.ts";
import type { RunStatus } from "./domain/run-states.ts";
import type { ReceiptType } from "./domain/subject.ts";

export type EvidenceMetrics = ReturnType<typeof createEvidenceMetrics>;

export function createEvidenceMetrics(metrics: Pick<Metrics, "counter">) {
  const receipts = metrics.counter({
    name: "evidence_receipts_total",
    help: "Receipts that were added to evidence packs, by type and result.",
    labels: ["type", "result"],
  });
  const runs = metrics.counter({
    name: "evidence_runs_ended_total",
    help: "Evidence runs that ended, by status.",
    labels: ["status"],
  });
  const gates = metrics.counter({
    name: "evidence_gates_evaluated_total",
    help: "Evaluations of evidence gates, by state.",
    labels: ["state"],
  });
  return {
    receiptAdded: (type: ReceiptType, result: ReceiptResult) => receipts.inc({ type, result }),
    runEnded: (status: RunStatus) => runs.inc({ status }),
    gateEvaluated: (state: "open" | "closed") => gates.inc({ state }),
  };
}
