import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PlanTerms_Interval as IntervalNumber,
  Price_Model as ModelNumber,
  type Plan as PlanMessage,
  PlanSchema,
  Plan_Status as PlanStatus,
  type PlanVersion as PlanVersionMessage,
  PlanVersionSchema,
  type PlanTerms as TermsMessage,
} from "../../../../gen/service/api/plan_pb.ts";
import { nameOf, stampFields } from "../../../platform/records/index.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import type { PlanTerms } from "./domain/terms.ts";

const intervals = { month: IntervalNumber.MONTH, year: IntervalNumber.YEAR } as const;
const models = {
  flat: ModelNumber.FLAT,
  per_unit: ModelNumber.PER_UNIT,
  package: ModelNumber.PACKAGE,
  graduated: ModelNumber.GRADUATED,
  volume: ModelNumber.VOLUME,
} as const;
const statuses = { active: PlanStatus.ACTIVE, archived: PlanStatus.ARCHIVED } as const;

/** Converts the terms of a request. */
export function toTerms({ currency, interval, prices, entitlements, limits }: TermsMessage): PlanTerms {
  return {
    currency,
    interval: nameOf(intervals, interval)!,
    prices: prices.map(({ key, name, model, meterKey, amount, perUnits, included, tiers }) => ({
      ...{ key, name, meterKey, amount, included },
      model: nameOf(models, model)!,
      perUnits: perUnits || 1n,
      tiers: tiers.map((tier) => ({
        upTo: tier.upTo,
        amount: tier.amount,
        perUnits: tier.perUnits || 1n,
        flatAmount: tier.flatAmount,
      })),
    })),
    entitlements: [...new Set(entitlements)],
    limits,
  };
}

export function fromPlan(plan: Plan): PlanMessage {
  return create(PlanSchema, {
    key: plan.key,
    name: plan.name,
    description: plan.description,
    status: statuses[plan.status],
    selfService: plan.selfService,
    latestVersion: plan.latestVersion,
    ...stampFields(plan),
  });
}

/** Converts a version of a plan. */
export function fromVersion({ planKey, version, terms, digest, createdAt }: PlanVersion): PlanVersionMessage {
  return create(PlanVersionSchema, {
    ...{ planKey, version, digest },
    createdAt: timestampFromDate(createdAt),
    terms: {
      currency: terms.currency,
      interval: intervals[terms.interval],
      prices: terms.prices.map((price) => ({
        ...price,
        model: models[price.model],
        tiers: price.tiers.map((tier) => ({ ...tier })),
      })),
      entitlements: [...terms.entitlements],
      limits: { ...terms.limits },
    },
  });
}
