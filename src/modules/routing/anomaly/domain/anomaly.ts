import type { TenantId } from "../../../../platform/access/index.ts";

/** How an anomaly is told. */
export type AnomalyMethod = "zscore" | "iqr" | "rate_change" | "pattern";

/** What stands out. */
export type AnomalyMetric = "latency_ms" | "success_rate" | "cost" | "throughput" | "failure_run" | "alternation";

/** What may be done about it. */
export type AnomalyAction = "alert" | "auto_pause" | "deprioritize" | "log";

/** Something that stands out. */
export interface Finding {
  readonly method: AnomalyMethod;
  readonly metric: AnomalyMetric;
  /** What the metric was in the last window that stands out. */
  readonly value: number;
  /** What it was in the windows before. */
  readonly baseline: number;
  /** Beyond which value it stands out. */
  readonly threshold: number;
}

/** A finding about a recipient, or about the pool as a whole when the id is empty. */
export interface PlacedFinding extends Finding {
  readonly recipientId: string;
}

/** A finding that was kept, and what was done about it. */
export interface Anomaly extends PlacedFinding {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly actions: readonly AnomalyAction[];
  readonly detectedAt: Date;
}

/** What was done, as the wire names it. */
export function wireActions({ actions }: Pick<Anomaly, "actions">): string[] {
  return actions.map((action) => (action === "auto_pause" ? "auto-pause" : action));
}
