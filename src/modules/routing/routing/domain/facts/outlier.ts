import type { PoolConfig } from "../../../pools/index.ts";

/** The health of a recipient, derived from its outcomes. */
export interface RecipientHealth {
  readonly consecutiveFailures: number;
  /** Number of ejections since the last success. */
  readonly ejections: number;
  /** 0 if it was never ejected. */
  readonly ejectedUntilMs: number;
  /** Moving averages; null if unknown. */
  readonly latencyMs: number | null;
  readonly cost: number | null;
  /** When the averages were last updated. */
  readonly latencyAtMs: number;
  readonly costAtMs: number;
}

export interface ItemOutcome {
  readonly status: "success" | "failure" | "timeout" | "declined" | "cancelled";
  readonly latencyMs?: number | undefined;
  readonly cost?: number | undefined;
}

/** The health of a recipient without outcomes. */
export const unknownHealth: RecipientHealth = {
  consecutiveFailures: 0,
  ejections: 0,
  ejectedUntilMs: 0,
  latencyMs: null,
  cost: null,
  latencyAtMs: 0,
  costAtMs: 0,
};

/** The weight of the previous average halves after this many outcomes, */
const halfLifeOutcomes = 10;
/** and after this time, even with few outcomes. */
const halfLifeMs = 5 * 60_000;
/** An ejection lasts at most this many times `ejectS`. */
const growthMax = 10;

/**
 * Updates the health of a recipient with an outcome.
 *
 * Consecutive failures and timeouts eject the recipient, unless that would exceed the allowed share of the pool;
 * then the next failure tries again. Ejections without a success in between last longer: `ejectS` times their
 * number, at most ten times. Outcomes during an ejection belong to earlier work and do not eject again. A success
 * resets the failure count; outside of an ejection it also resets the duration of the next one. Declined and
 * cancelled outcomes are ignored.
 *
 * `ejectedShare`: the share of the pool, 0 to 1, that would be ejected together with this recipient.
 */
export function applyOutcome(
  health: RecipientHealth,
  outcome: ItemOutcome,
  config: PoolConfig["outlier"],
  nowMs: number,
  ejectedShare: number,
): RecipientHealth {
  return {
    ...updateAverages(health, outcome, nowMs),
    ...applyStatus(health, outcome.status, config, nowMs, ejectedShare),
  };
}

type EjectionState = Pick<RecipientHealth, "consecutiveFailures" | "ejections" | "ejectedUntilMs">;

function applyStatus(
  { consecutiveFailures, ejections, ejectedUntilMs }: RecipientHealth,
  status: ItemOutcome["status"],
  config: PoolConfig["outlier"],
  nowMs: number,
  ejectedShare: number,
): EjectionState {
  const isEjected = ejectedUntilMs > nowMs;
  if (status === "success") return { consecutiveFailures: 0, ejections: isEjected ? ejections : 0, ejectedUntilMs };
  if (isEjected || (status !== "failure" && status !== "timeout")) {
    return { consecutiveFailures, ejections, ejectedUntilMs };
  }
  const failures = consecutiveFailures + 1;
  const isDue = config.consecutiveFailures > 0 && failures >= config.consecutiveFailures;
  if (!isDue || ejectedShare > config.maxEjectedPct / 100) {
    return { consecutiveFailures: failures, ejections, ejectedUntilMs };
  }
  const times = Math.min(ejections + 1, growthMax);
  return { consecutiveFailures: 0, ejections: times, ejectedUntilMs: nowMs + config.ejectS * 1000 * times };
}

function updateAverages(
  health: RecipientHealth,
  { status, latencyMs, cost }: ItemOutcome,
  nowMs: number,
): RecipientHealth {
  // Failures are excluded: a fast failure would attract more items to the recipient that fails fastest.
  const isWork = status === "success" || status === "timeout";
  return {
    ...health,
    ...(isWork &&
      latencyMs !== undefined && {
        latencyMs: updateAverage(health.latencyMs, latencyMs, nowMs - health.latencyAtMs),
        latencyAtMs: nowMs,
      }),
    ...(cost !== undefined && { cost: updateAverage(health.cost, cost, nowMs - health.costAtMs), costAtMs: nowMs }),
  };
}

/** A moving average in which the past halves every ten outcomes and every five minutes. */
function updateAverage(average: number | null, value: number, elapsedMs: number): number {
  if (average === null) return value;
  const decay = 0.5 ** (1 / halfLifeOutcomes + Math.max(0, elapsedMs) / halfLifeMs);
  return average * decay + value * (1 - decay);
}
