/** The numbers of running sends on a node. */
export interface InFlightCounts {
  readonly all: number;
  /** Sends to endpoints whose last attempt was slow or failed. */
  readonly slow: number;
  readonly ofTenant: number;
  readonly ofEndpoint: number;
}

/** The speed of an endpoint's last attempt, as far as the node knows. */
export type Pace = "quick" | "unknown" | "slow";

/** Maximum numbers of concurrent sends on a node. */
export const limits = {
  all: 256,
  /** Slow endpoints share half of the slots, so that any number of them leaves the other half free. */
  slow: 128,
  tenant: 64,
  endpoint: { quick: 32, unknown: 8, slow: 1 },
} as const;

/** A response that takes longer marks the endpoint as slow until its next attempt. */
const slowMs = 2000;

/** The pace of an endpoint after an attempt. */
export function paceOf(tookMs: number, succeeded: boolean): Pace {
  return succeeded && tookMs < slowMs ? "quick" : "slow";
}

/** How many more concurrent sends an endpoint can have now. */
export function availableSlots(inFlight: InFlightCounts, pace: Pace): number {
  const left = Math.min(
    limits.all - inFlight.all,
    limits.tenant - inFlight.ofTenant,
    limits.endpoint[pace] - inFlight.ofEndpoint,
    pace === "slow" ? limits.slow - inFlight.slow : limits.all,
  );
  return Math.max(left, 0);
}
