import type { AdmissionConfig } from "../../pools/index.ts";

type Throttle = NonNullable<AdmissionConfig["throttle"]>;

/** The effect of one more item on a throttle. */
export interface TokenGrant {
  /** When the item conforms: now, or later. */
  readonly conformsAtMs: number;
  /** The theoretical arrival time after the item is counted. */
  readonly tatMs: number;
  /** When the next item would conform. */
  readonly nextAtMs: number;
}

// Sums of these fractions are exact in a double until the year 2109, for any number of items.
const fraction = 2048;

/**
 * Generic cell rate algorithm (GCRA): `limit` tokens per period, evenly spread, plus a burst of `burst`.
 *
 * No period grants more than limit + burst tokens: the time per token is rounded up, and times are compared in
 * whole milliseconds. An item that costs more than a burst passes when all earlier items are paid for.
 */
export function consumeTokens(throttle: Throttle, tatMs: number, nowMs: number): TokenGrant {
  const tokenMs = timeOfToken(throttle);
  const creditMs = Math.max(0, 1 + throttle.burst - throttle.cost) * tokenMs;
  const conformsAtMs = Math.max(nowMs, Math.floor(tatMs - creditMs));
  const next = Math.max(nowMs, tatMs) + throttle.cost * tokenMs;
  return { conformsAtMs, tatMs: next, nextAtMs: Math.floor(next - creditMs) };
}

/** Returns how many tokens can be taken immediately. */
export function tokensLeft(throttle: Throttle, tatMs: number, nowMs: number): number {
  const tokenMs = timeOfToken(throttle);
  const owedMs = Math.max(0, tatMs - nowMs);
  // A shortfall of less than a millisecond is ignored, as in consumeTokens.
  return Math.max(0, Math.floor(((1 + throttle.burst) * tokenMs - owedMs + (1 - 1 / fraction)) / tokenMs));
}

function timeOfToken({ periodS, limit }: Throttle): number {
  return Math.ceil(((periodS * 1000) / limit) * fraction) / fraction;
}
