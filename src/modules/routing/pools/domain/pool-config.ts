import type { Strategy } from "./strategy.ts";

/** The complete configuration of a pool, apart from its strategy, with all defaults filled in. */
export interface PoolConfig {
  readonly selection: {
    /** CEL expression over item that sticky_hash hashes. Empty: the key of the item. */
    readonly hashKey: string;
    /** Number of random recipients that least_loaded compares. */
    readonly choiceCount: number;
    /** Time in which a newly available recipient ramps up to its full weight. */
    readonly slowStartS: number;
    /** Whom skills_based chooses among the recipients with the required skills. */
    readonly skillChoice: "best_skilled" | "least_skilled" | "longest_idle";
  };
  readonly fallback: {
    /** Additional attempts for items that have waited without a recipient, ordered by afterS. */
    readonly steps: readonly FallbackStep[];
    readonly onNoMatch: "queue" | "reject" | "redirect_pool";
    readonly redirectPoolId: string;
  };
  readonly queue: {
    readonly maxDepth: number;
    readonly ttlS: number;
    /** Seconds of waiting that raise the priority by one point, in the order aged_priority. */
    readonly ageingS: number;
    /** The order in which items are leased. */
    readonly order: "aged_priority" | "strict_priority" | "arrival";
  };
  readonly lease: { readonly durationS: number; readonly heartbeatS: number };
  readonly retry: {
    readonly maxAttempts: number;
    readonly initialMs: number;
    readonly factor: number;
    readonly maxMs: number;
    /** Random share of a delay, 0 to 1. */
    readonly jitter: number;
    /** The bounds of what items set for themselves. */
    readonly itemMaxAttempts: number;
    readonly itemMaxMs: number;
  };
  readonly dlq: { readonly maxRetries: number; readonly retentionDays: number };
  readonly outlier: {
    /** 0 disables ejection. */
    readonly consecutiveFailures: number;
    readonly ejectS: number;
    readonly maxEjectedPct: number;
  };
  readonly admission: AdmissionConfig;
  /** Undefined: an item that is assigned to a recipient is not offered first. */
  readonly reservation?: ReservationConfig;
  readonly anomaly: AnomalyConfig;
  /** Whether item events (route.decided, queue.item.*) are recorded. Dead letters are always recorded. */
  readonly itemEvents: boolean;
  /** Whether rules may choose the pool for items without one. */
  readonly acceptsUnaddressed: boolean;
}

/** One step of a timed fallback: which recipients it admits, and how one of them is chosen. */
export interface FallbackStep {
  readonly afterS: number;
  /**
   * CEL over item, recipient, pool and now. It replaces the requirements of rules and `requirements.skills`. Empty:
   * admits all.
   */
  readonly condition: string;
  readonly strategy: Strategy;
}

/** How recipients accept or decline items before they work on them. */
export interface ReservationConfig {
  readonly timeoutS: number;
  /** How long after the last refusal an item that everyone has refused is offered to everyone again. */
  readonly reofferAfterS: number;
}

/** The admission constraints of a pool; each is optional. Keys are CEL over item and pool. */
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
    readonly take: "first" | "last" | "all";
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
    /** Whether leases take one item of each key in turn. */
    readonly rotate?: boolean | undefined;
  };
}

/** Configuration of anomaly detection and of the actions it takes. */
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
  /** Whether automatically paused recipients are resumed after the cool-down. */
  readonly autoResume: boolean;
}
