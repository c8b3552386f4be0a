import type { PoolConfig } from "../../../pools/index.ts";

/** What outcomes have told of a recipient so far. */
export interface RecipientHealth {
  readonly consecutiveFailures: number;
  /** How often it was ejected without a success since. */
  readonly ejections: number;
  /** 0 when it never was. */
  readonly ejectedUntilMs: number;
  /** Moving averages; null while nothing is known. */
  readonly latencyMs: number | null;
  readonly cost: number | null;
  /** When the averages last moved. */
  readonly latencyAtMs: number;
  readonly costAtMs: number;
}

/** How an item turned out. */
export interface ItemOutcome {
  readonly status: "success" | "failure" | "timeout" | "declined" | "cancelled";
  readonly latencyMs?: number | undefined;
  readonly cost?: number | undefined;
}

/** A recipient of which nothing is known. */
export const unknownHealth: RecipientHealth = {
  consecutiveFailures: 0,
  ejections: 0,
  ejectedUntilMs: 0,
  latencyMs: null,
  cost: null,
  latencyAtMs: 0,
  costAtMs: 0,
};

/** After so many outcomes what was known before counts half. */
const halfLifeOutcomes = 10;
/** And after so long, even with few outcomes. */
const halfLifeMs = 5 * 60_000;
/** An ejection lasts at most this many times `ejectS`. */
const growthMax = 10;

/**
 * What an outcome makes of what is known.
 *
 * Failures and timeouts in a row lead to ejection, unless that would leave out more of the pool than it allows: then the next
 * failure tries again. Each ejection without a success in between lasts longer, `ejectS` times their number, at most ten times.
 * What comes in while one is ejected was begun before and ejects nobody again. A success ends the row; outside of an
 * ejection it also makes the next one short again. Declined and cancelled say nothing about health.
 *
 * `ejectedShare`: the part of the pool, 0 to 1, that would be ejected if this one were.
 */
export function afterOutcome(
  health: RecipientHealth,
  outcome: ItemOutcome,
  config: PoolConfig["outlier"],
  nowMs: number,
  ejectedShare: number,
): RecipientHealth {
  return {
    ...afterAverages(health, outcome, nowMs),
    ...afterStatus(health, outcome.status, config, nowMs, ejectedShare),
  };
}

type EjectionState = Pick<RecipientHealth, "consecutiveFailures" | "ejections" | "ejectedUntilMs">;

function afterStatus(
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

function afterAverages(
  health: RecipientHealth,
  { status, latencyMs, cost }: ItemOutcome,
  nowMs: number,
): RecipientHealth {
  // A quick failure is not quick work: counted, it would draw more items to whoever fails fastest.
  const isWork = status === "success" || status === "timeout";
  return {
    ...health,
    ...(isWork &&
      latencyMs !== undefined && {
        latencyMs: moved(health.latencyMs, latencyMs, nowMs - health.latencyAtMs),
        latencyAtMs: nowMs,
      }),
    ...(cost !== undefined && { cost: moved(health.cost, cost, nowMs - health.costAtMs), costAtMs: nowMs }),
  };
}

/** A moving average in which the past halves every ten outcomes and every five minutes. */
function moved(average: number | null, value: number, elapsedMs: number): number {
  if (average === null) return value;
  const kept = 0.5 ** (1 / halfLifeOutcomes + Math.max(0, elapsedMs) / halfLifeMs);
  return average * kept + value * (1 - kept);
}
