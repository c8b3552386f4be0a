/** What is under way on a node. */
export interface Traffic {
  readonly all: number;
  /** Of these, to endpoints that were slow or failed last time. */
  readonly slow: number;
  readonly ofTenant: number;
  readonly ofEndpoint: number;
}

/** How an endpoint did last time, as far as the node knows. */
export type Pace = "quick" | "unknown" | "slow";

/** How many messages a node sends at once. */
export const limits = {
  all: 256,
  /** Slow endpoints share half of it, so that however many there are, the others have theirs. */
  slow: 128,
  tenant: 64,
  endpoint: { quick: 32, unknown: 8, slow: 1 },
} as const;

/** An answer that takes longer makes an endpoint slow until the next one. */
const slowMs = 2000;

/** How an endpoint did that took or failed a message in so much time. */
export function paceOf(tookMs: number, succeeded: boolean): Pace {
  return succeeded && tookMs < slowMs ? "quick" : "slow";
}

/** How many more messages may be sent to an endpoint now. */
export function allowanceOf(traffic: Traffic, pace: Pace): number {
  const left = Math.min(
    limits.all - traffic.all,
    limits.tenant - traffic.ofTenant,
    limits.endpoint[pace] - traffic.ofEndpoint,
    pace === "slow" ? limits.slow - traffic.slow : limits.all,
  );
  return Math.max(left, 0);
}
