import type { PlanTerms } from "./terms.ts";

/** Terms as stored: amounts and quantities are texts, because numbers in JSON are floating-point. */
export type TermsDocument = Readonly<Record<string, unknown>>;

/** Converts terms for storage. */
export function toDocument(terms: PlanTerms): TermsDocument {
  return JSON.parse(JSON.stringify(terms, (_, value) => (typeof value === "bigint" ? String(value) : value)));
}

/** Converts stored terms. */
export function fromDocument(document: TermsDocument): PlanTerms {
  const { prices, limits, ...rest } = document as unknown as StoredTerms;
  return {
    ...rest,
    prices: prices.map(({ tiers, amount, perUnits, included, ...price }) => ({
      ...price,
      amount: BigInt(amount),
      perUnits: BigInt(perUnits),
      included: BigInt(included),
      tiers: tiers.map((tier) => ({
        upTo: BigInt(tier.upTo),
        amount: BigInt(tier.amount),
        perUnits: BigInt(tier.perUnits),
        flatAmount: BigInt(tier.flatAmount),
      })),
    })),
    limits: Object.fromEntries(Object.entries(limits).map(([operation, limit]) => [operation, BigInt(limit)])),
  };
}

/** A type with texts in place of integers. */
type Stored<T> = T extends bigint
  ? string
  : T extends string | number | boolean
    ? T
    : T extends readonly (infer E)[]
      ? readonly Stored<E>[]
      : { readonly [K in keyof T]: Stored<T[K]> };

type StoredTerms = Stored<PlanTerms>;
