import { divideRounded } from "./rounded-division.ts";

/** A time range in milliseconds, without its end. */
export interface TimeRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * The share of an amount that a part of a period has. It is the difference of two rounded running totals, so the shares of
 * parts that make up the period add up to the amount exactly, and each share is within one unit of the exact one.
 */
export function prorate(amount: bigint, part: TimeRange, period: TimeRange): bigint {
  return runningTotal(amount, part.untilMs, period) - runningTotal(amount, part.fromMs, period);
}

/** The rounded amount from the start of a period to a time in it. */
function runningTotal(amount: bigint, atMs: number, { fromMs, untilMs }: TimeRange): bigint {
  const elapsedMs = Math.min(Math.max(atMs, fromMs), untilMs) - fromMs;
  return divideRounded(amount * BigInt(elapsedMs), BigInt(untilMs - fromMs));
}
