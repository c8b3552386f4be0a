import type { Strategy } from "./strategy.ts";

/** Everything that steers a pool besides its strategy, with every default filled in. */
export interface PoolConfig {
  readonly selection: {
    /** CEL over item; what sticky_hash hashes. Empty: the item's key. */
    readonly hashKey: string;
    /** How many random recipients least_loaded compares. */
    readonly choiceCount: number;
    /** How long a recipient that became available works up to its full weight. */
    readonly slowStartS: number;
  };
  readonly fallback: {
    /** What is tried in addition once an item has waited this long without a recipient; in order of afterS. */
    readonly steps: readonly FallbackStep[];
    readonly onNoMatch: "queue" | "reject" | "redirect_pool";
    readonly redirectPoolId: string;
  };
  readonly queue: {
    readonly maxDepth: number;
    readonly ttlS: number;
    /** How many seconds of waiting one point of priority is worth. */
    readonly ageingS: number;
  };
  readonly lease: { readonly durationS: number; readonly heartbeatS: number };
  readonly retry: {
    readonly maxAttempts: number;
    readonly initialMs: number;
    readonly factor: number;
    readonly maxMs: number;
    /** The share of a wait that is left to chance, 0 to 1. */
    readonly jitter: number;
  };
  readonly dlq: { readonly maxRetries: number; readonly retentionDays: number };
  readonly outlier: {
    /** 0 switches ejection off. */
    readonly consecutiveFailures: number;
    readonly ejectS: number;
    readonly maxEjectedPct: number;
  };
  readonly admission: AdmissionConfig;
  readonly anomaly: AnomalyConfig;
  /** Whether each item's own steps (route.decided, queue.item.*) are put on the event log; dead letters always are. */
  readonly itemEvents: boolean;
}

/** One step of a timed fallback: whom the condition lets in, and how one of them is chosen. */
export interface FallbackStep {
  readonly afterS: number;
  /** CEL over item, recipient, pool and now; it replaces what rules and `requirements.skills` require. Empty: everyone. */
  readonly condition: string;
  readonly strategy: Strategy;
}

/** The constraints that an item must pass on its way in; each may be absent. Keys are CEL over item and pool. */
export interface AdmissionConfig {
  readonly singleton?: {
    readonly key: string;
    readonly mode: "skip" | "replace_pending" | "cancel_running";
    readonly ttlS: number;
  };
  readonly debounce?: {
    readonly key: string;
    readonly periodS: number;
    readonly maxDelayS: number;
    readonly take: "last";
  };
  readonly throttle?: {
    readonly key: string;
    readonly limit: number;
    readonly periodS: number;
    readonly burst: number;
    readonly cost: number;
    readonly onLimit: "delay" | "reject";
  };
  readonly concurrency?: {
    readonly key: string;
    readonly limit: number;
    readonly scope: "pool" | "environment" | "tenant";
  };
}

/** How outcomes are watched, and what is done about what stands out. */
export interface AnomalyConfig {
  readonly enabled: boolean;
  readonly methods: readonly ("zscore" | "iqr" | "rate_change" | "pattern")[];
  readonly actions: readonly ("alert" | "auto_pause" | "deprioritize" | "log")[];
  readonly zscoreThreshold: number;
  readonly iqrMultiplier: number;
  readonly rateChangeDrop: number;
  readonly windowS: number;
  readonly samplesMin: number;
  readonly cooldownS: number;
}
