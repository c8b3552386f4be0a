// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Anomalies: unusual outcomes of pools and their recipients. */
export interface AnomalyService {
  /** Lists anomalies, newest first. */
  list(request?: ListAnomaliesRequest, options?: CallOptions): List<Anomaly>;

  /** Returns one anomaly. */
  get(request: GetAnomalyRequest, options?: CallOptions): Promise<Anomaly>;
}

const anomalyServiceOperations = {
  list: { verb: "GET", path: "/api/anomalies", result: "cursor" },
  get: { verb: "GET", path: "/api/anomalies/{anomaly_id}" },
} as const satisfies Record<keyof AnomalyService, Operation>;

/** Creates the service over a transport. */
export function createAnomalyService(transport: Transport): AnomalyService {
  return bindOperations<AnomalyService>(transport, anomalyServiceOperations);
}

/** Request for a page of anomalies. */
export type ListAnomaliesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this pool. */
  readonly pool_id?: string;
  /** Only those of this recipient. */
  readonly recipient_id?: string;
  /** Only those found by this method. */
  readonly method?: "" | "zscore" | "iqr" | "rate_change" | "pattern";
  /** Only those of pools of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** An unusual outcome pattern, and the action taken. */
export type Anomaly = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** The recipient; empty for the pool as a whole. */
  readonly recipient_id: string;
  /** The detection method: zscore, iqr, rate_change or pattern. */
  readonly method: string;
  /** The metric: latency_ms, success_rate, cost, throughput, failure_run or alternation. */
  readonly metric: string;
  /** The value in the last window. */
  readonly value: number;
  /** The value in the windows before. */
  readonly baseline: number;
  /** The value beyond which it is an anomaly. */
  readonly threshold: number;
  /** The actions taken: alert, auto-pause, deprioritize, log. */
  readonly actions: readonly string[];
  /** When it was detected. */
  readonly detected_at?: string;
};

/** Identifies an anomaly. */
export type GetAnomalyRequest = {
  /** The anomaly. */
  readonly anomaly_id: string;
};
