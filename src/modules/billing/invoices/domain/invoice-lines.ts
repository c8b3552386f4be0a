import type { PlanRef, PlanTerms, Price, PriceTier } from "../../plans/index.ts";
import { prorate, type TimeRange } from "./proration.ts";
import { divideRounded, divideRoundedUp } from "./rounded-division.ts";

/** A part of a period in which a tenant had one version of a plan. */
export interface RatedSegment extends PlanRef, TimeRange {
  readonly terms: PlanTerms;
}

export interface InvoiceLine extends PlanRef, TimeRange {
  readonly priceKey: string;
  readonly description: string;
  /** Empty for a flat price. */
  readonly meterKey: string;
  readonly quantity: bigint;
  readonly included: bigint;
  readonly amount: bigint;
}

/** Returns the usage of a meter in a part of a period. */
export type UsageLookup = (meterKey: string, part: TimeRange) => bigint;

/**
 * Creates the lines of a period: one for each price of each segment. Flat prices and included units are in proportion to
 * the segment's share of the period; usage is priced by the segment in which it happened.
 */
export function rateLines(period: TimeRange, segments: readonly RatedSegment[], usageOf: UsageLookup): InvoiceLine[] {
  return segments.flatMap((segment) => {
    const part = clip(segment, period);
    if (part === undefined) return [];
    return segment.terms.prices.map((price) => {
      const quantity = price.model === "flat" ? 1n : usageOf(price.meterKey, part);
      const included = prorate(price.included, part, period);
      return {
        planKey: segment.planKey,
        planVersion: segment.planVersion,
        priceKey: price.key,
        description: price.name,
        meterKey: price.meterKey,
        fromMs: part.fromMs,
        untilMs: part.untilMs,
        quantity,
        included,
        amount: price.model === "flat" ? prorate(price.amount, part, period) : usageAmount(price, quantity - included),
      };
    });
  });
}

/** The sum of lines. */
export function totalOf(lines: readonly InvoiceLine[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

/** The part of a segment within a period; undefined if there is none. */
function clip({ fromMs, untilMs }: TimeRange, period: TimeRange): TimeRange | undefined {
  const part = { fromMs: Math.max(fromMs, period.fromMs), untilMs: Math.min(untilMs, period.untilMs) };
  return part.fromMs < part.untilMs ? part : undefined;
}

/** The amount of a price for units beyond the included ones. It is rounded once per line, or once per tier. */
export function usageAmount({ model, amount, perUnits, tiers }: Price, units: bigint): bigint {
  if (units <= 0n) return 0n;
  switch (model) {
    case "flat":
      return amount;
    case "per_unit":
      return divideRounded(units * amount, perUnits);
    case "package":
      return divideRoundedUp(units, perUnits) * amount;
    case "graduated":
      return graduatedAmount(tiers, units);
    case "volume":
      return tierAmount(tiers.find(({ upTo }) => upTo === 0n || units <= upTo)!, units);
  }
}

function graduatedAmount(tiers: readonly PriceTier[], units: bigint): bigint {
  let total = 0n;
  let before = 0n;
  for (const tier of tiers) {
    if (units <= before) break;
    const until = tier.upTo === 0n || units < tier.upTo ? units : tier.upTo;
    total += tierAmount(tier, until - before);
    before = until;
  }
  return total;
}

function tierAmount({ amount, perUnits, flatAmount }: PriceTier, units: bigint): bigint {
  return flatAmount + divideRounded(units * amount, perUnits);
}
