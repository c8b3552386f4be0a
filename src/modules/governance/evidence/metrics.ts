import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { ReceiptResult } from "./domain/receipt.ts";
import type { RunStatus } from "./domain/run-states.ts";
import type { ReceiptType } from "./domain/subject.ts";

export interface EvidenceMetrics {
  receiptAdded(type: ReceiptType, result: ReceiptResult): void;
  runEnded(status: RunStatus): void;
  gateEvaluated(state: "open" | "closed"): void;
}

export function createEvidenceMetrics(metrics: Pick<Metrics, "counter">): EvidenceMetrics {
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
    receiptAdded: (type, result) => receipts.inc({ type, result }),
    runEnded: (status) => runs.inc({ status }),
    gateEvaluated: (state) => gates.inc({ state }),
  };
}
