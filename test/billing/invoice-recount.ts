// What an invoice must say, calculated from single events. It shares no code with the service.

/** A price as its plan states it. */
export interface StatedPrice {
  readonly model: "flat" | "per_unit" | "package" | "graduated" | "volume";
  readonly meterKey: string;
  readonly amount: bigint;
  readonly perUnits: bigint;
  readonly included: bigint;
  readonly tiers: readonly Tier[];
}

interface Tier {
  /** 0 for no bound. */
  readonly upTo: bigint;
  readonly amount: bigint;
  readonly perUnits: bigint;
  readonly flatAmount: bigint;
}

/** A plan, with how its meters are counted. */
export interface Plan {
  readonly key: string;
  readonly currency: string;
  readonly months: 1 | 12;
  readonly prices: readonly StatedPrice[];
}

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The time in which a tenant had a plan. */
export interface Stay extends Span {
  readonly plan: Plan;
}

/** One event of a meter, or a measurement that applies to a span of time. */
export interface RawUsage {
  readonly meterKey: string;
  readonly aggregation: "sum" | "count" | "max" | "last" | "unique" | "gauge";
  readonly atMs: number;
  /** The length of the span of a measurement. */
  readonly lengthMs?: number;
  readonly quantity: bigint;
  readonly value: string;
}

/** The time a number of months after an anchor; a day that the month does not have is its last one. */
export function addMonths(anchorMs: number, months: number): number {
  const anchor = new Date(anchorMs);
  const first = new Date(Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth() + months, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const timeOfDayMs = anchorMs - Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate());
  return first.getTime() + (Math.min(anchor.getUTCDate(), days) - 1) * 86_400_000 + timeOfDayMs;
}

/** What a period costs. */
export function recountTotal(period: Span, stays: readonly Stay[], usage: readonly RawUsage[]): bigint {
  let total = 0n;
  for (const { plan, fromMs, untilMs } of stays) {
    const part = { fromMs: Math.max(fromMs, period.fromMs), untilMs: Math.min(untilMs, period.untilMs) };
    if (part.fromMs >= part.untilMs) continue;
    for (const price of plan.prices) {
      if (price.model === "flat") total += shareOf(price.amount, part, period);
      else {
        const events = usage.filter((each) => each.meterKey === price.meterKey && isWithin(each, part));
        total += costOf(price, quantityOf(events) - shareOf(price.included, part, period));
      }
    }
  }
  return total;
}

function isWithin({ atMs, lengthMs = 1 }: RawUsage, { fromMs, untilMs }: Span): boolean {
  return atMs + lengthMs > fromMs && atMs < untilMs;
}

function quantityOf(events: readonly RawUsage[]): bigint {
  switch (events[0]?.aggregation) {
    case undefined:
      return 0n;
    case "count":
      return BigInt(events.length);
    case "unique":
      return BigInt(new Set(events.map(({ value }) => value)).size);
    case "last":
      return events.reduce((last, each) => (each.atMs >= last.atMs ? each : last)).quantity;
    case "sum":
      return events.reduce((sum, { quantity }) => sum + quantity, 0n);
    default:
      return events.toSorted((a, b) => (a.quantity < b.quantity ? -1 : 1)).at(-1)!.quantity;
  }
}

/** The shares of the parts of a period add up to the amount: each is what the rounded running total grows by. */
function shareOf(amount: bigint, part: Span, period: Span): bigint {
  const until = (atMs: number) =>
    rounded(amount * BigInt(atMs - period.fromMs), BigInt(period.untilMs - period.fromMs));
  return until(part.untilMs) - until(part.fromMs);
}

function costOf({ model, amount, perUnits, tiers }: StatedPrice, units: bigint): bigint {
  if (units <= 0n) return 0n;
  if (model === "per_unit") return rounded(units * amount, perUnits);
  if (model === "package") return (units % perUnits === 0n ? units / perUnits : units / perUnits + 1n) * amount;
  let cost = 0n;
  let below = 0n;
  for (const tier of tiers) {
    const isLast = tier.upTo === 0n || units <= tier.upTo;
    const inTier = isLast ? units - below : tier.upTo - below;
    if (model === "graduated") cost += tier.flatAmount + rounded(inTier * tier.amount, tier.perUnits);
    if (isLast) return model === "graduated" ? cost : tier.flatAmount + rounded(units * tier.amount, tier.perUnits);
    below = tier.upTo;
  }
  throw new Error("The last tier has no bound");
}

/** The nearest integer; a half is rounded up. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor;
  return dividend / divisor + (2n * rest >= divisor ? 1n : 0n);
}
