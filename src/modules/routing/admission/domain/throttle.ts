import type { AdmissionConfig } from "../../pools/index.ts";

type Throttle = NonNullable<AdmissionConfig["throttle"]>;

/** What a throttle says of one more item. */
export interface ThrottleTurn {
  /** When the item conforms: now, or later. */
  readonly conformsAtMs: number;
  /** The theoretical arrival time once the item is counted. */
  readonly tatMs: number;
  /** When the one after it would conform. */
  readonly nextAtMs: number;
}

// Sums of such fractions are exact in a double until the year 2109, however many items are added up.
const fraction = 2048;

/**
 * The generic cell rate algorithm: `limit` tokens a period, evenly spread, and `burst` more at once.
 *
 * In any period no more than limit + burst tokens are taken: the time a token takes is rounded up, and times are compared
 * in whole milliseconds. An item that costs more than a burst holds passes when all before it are paid for.
 */
export function takeTurn(throttle: Throttle, tatMs: number, nowMs: number): ThrottleTurn {
  const tokenMs = timeOfToken(throttle);
  const creditMs = Math.max(0, 1 + throttle.burst - throttle.cost) * tokenMs;
  const conformsAtMs = Math.max(nowMs, Math.floor(tatMs - creditMs));
  const next = Math.max(nowMs, tatMs) + throttle.cost * tokenMs;
  return { conformsAtMs, tatMs: next, nextAtMs: Math.floor(next - creditMs) };
}

/** How many tokens can be taken at once now. */
export function tokensLeft(throttle: Throttle, tatMs: number, nowMs: number): number {
  const tokenMs = timeOfToken(throttle);
  const owedMs = Math.max(0, tatMs - nowMs);
  // Less than a millisecond short counts as there, as it does for takeTurn.
  return Math.max(0, Math.floor(((1 + throttle.burst) * tokenMs - owedMs + (1 - 1 / fraction)) / tokenMs));
}

function timeOfToken({ periodS, limit }: Throttle): number {
  return Math.ceil(((periodS * 1000) / limit) * fraction) / fraction;
}
