import type { Violation } from "../../../../errors/index.ts";

/** How the amount of a price follows from the usage. */
export type PriceModel = "flat" | "per_unit" | "package" | "graduated" | "volume";

export interface PriceTier {
  /** The last unit of the tier; 0 for no bound. */
  readonly upTo: bigint;
  readonly amount: bigint;
  readonly perUnits: bigint;
  /** Added once if the tier applies. */
  readonly flatAmount: bigint;
}

/** A price of a plan. Amounts are in the smallest unit of the currency. */
export interface Price {
  readonly key: string;
  readonly name: string;
  readonly model: PriceModel;
  /** Empty for a flat price. */
  readonly meterKey: string;
  readonly amount: bigint;
  /** The number of units that the amount is for. */
  readonly perUnits: bigint;
  /** Units per period that cost nothing. */
  readonly included: bigint;
  readonly tiers: readonly PriceTier[];
}

/** The length of a billing period. */
export type Interval = "month" | "year";

/** The prices and grants of a plan version. */
export interface PlanTerms {
  readonly currency: string;
  readonly interval: Interval;
  readonly prices: readonly Price[];
  readonly entitlements: readonly string[];
  /** Daily quotas by operation. */
  readonly limits: Readonly<Record<string, bigint>>;
}

/** The rules of terms that a definition cannot express. */
export function termsViolations({ prices }: PlanTerms): Violation[] {
  const keys = new Set<string>();
  return prices.flatMap((price, at) => {
    const field = `terms.prices[${at}]`;
    const isRepeated = keys.has(price.key);
    keys.add(price.key);
    return [
      ...(isRepeated ? [violation(`${field}.key`, "is the key of another price; each price has its own")] : []),
      ...meterViolations(price, field),
      ...tierViolations(price, field),
    ];
  });
}

function meterViolations({ model, meterKey, included }: Price, field: string): Violation[] {
  if (model === "flat") {
    return [
      ...(meterKey === "" ? [] : [violation(`${field}.meter_key`, "must be empty for a flat price")]),
      ...(included === 0n ? [] : [violation(`${field}.included`, "must be 0 for a flat price")]),
    ];
  }
  return meterKey === "" ? [violation(`${field}.meter_key`, "must name the meter whose usage is priced")] : [];
}

function tierViolations({ model, tiers }: Price, field: string): Violation[] {
  if (model !== "graduated" && model !== "volume") {
    return tiers.length === 0
      ? []
      : [violation(`${field}.tiers`, "must be empty, except for a graduated or volume price")];
  }
  const last = tiers.at(-1);
  if (last?.upTo !== 0n) {
    return [violation(`${field}.tiers`, "must end with a tier without a bound (up_to: 0)")];
  }
  const isAscending = tiers.slice(0, -1).every(({ upTo }, at) => upTo > (tiers[at - 1]?.upTo ?? 0n));
  return isAscending
    ? []
    : [violation(`${field}.tiers`, "must be in ascending order of up_to, and only the last may be 0")];
}

function violation(field: string, message: string): Violation {
  return { field, rule: "plan_terms", message };
}
