import type { TenantId } from "../../../../platform/access/index.ts";

/** A detection method. */
export type AnomalyMethod = "zscore" | "iqr" | "rate_change" | "pattern";

/** A monitored metric. */
export type AnomalyMetric = "latency_ms" | "success_rate" | "cost" | "throughput" | "failure_run" | "alternation";

/** An action taken on an anomaly. */
export type AnomalyAction = "alert" | "auto_pause" | "deprioritize" | "log";

/** An anomalous metric. */
export interface Finding {
  readonly method: AnomalyMethod;
  readonly metric: AnomalyMetric;
  /** The value in the latest anomalous window. */
  readonly value: number;
  /** The normal value, from the baseline windows. */
  readonly baseline: number;
  /** The limit beyond which a value is anomalous. */
  readonly threshold: number;
}

/** A finding for a recipient, or for the whole pool if the id is empty. */
export interface ScopedFinding extends Finding {
  readonly recipientId: string;
}

/** A stored finding with the actions taken. */
export interface Anomaly extends ScopedFinding {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly actions: readonly AnomalyAction[];
  readonly detectedAt: Date;
}

/** Converts actions to their wire names. */
export function toWireActions({ actions }: Pick<Anomaly, "actions">): string[] {
  return actions.map((action) => (action === "auto_pause" ? "auto-pause" : action));
}
