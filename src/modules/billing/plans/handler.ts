import {
  PlanTerms_Interval as IntervalNumber,
  Price_Model as ModelNumber,
  Plan_Status as PlanStatus,
  type PlanService as Rpc,
  type PlanTerms as TermsMessage,
} from "../../../../gen/service/api/plan_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { type Page, pageOf } from "../../../platform/paging/index.ts";
import { enumNumbers, nameOf } from "../../../platform/records/index.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import type { PlanTerms } from "./domain/terms.ts";
import type { PlanService } from "./service.ts";
import { planStore } from "./store.ts";

export function planHandlers(service: PlanService, platformTenantId: () => TenantId): Handlers<typeof Rpc> {
  return {
    async createPlan(context, { key, name, description, selfService, terms }) {
      const input = { key, name, description, selfService, terms: toTerms(terms!) };
      return { plan: fromPlan(await service.createPlan(context, input)) };
    },

    getPlan: async ({ sql }, { planKey }) => ({ plan: fromPlan(await service.requirePlan(sql, planKey)) }),

    async listPlans(context, request) {
      const page = await context.page(
        "plans",
        request,
        [],
        (wanted) => planStore(context.sql).list(platformTenantId(), wanted),
        ({ key }) => key,
      );
      return { ...page, plans: page.plans.map(fromPlan) };
    },

    archivePlan: async (context, { planKey }) => ({ plan: fromPlan(await service.archivePlan(context, planKey)) }),

    async createPlanVersion(context, { planKey, terms }) {
      return { version: fromVersion(await service.createVersion(context, planKey, toTerms(terms!))) };
    },

    async getPlanVersion(context, { planKey, version }) {
      const planVersion = version === "latest" ? 0 : Number(version);
      return { version: fromVersion(await service.findVersion(context.sql, { planKey, planVersion })) };
    },

    async listPlanVersions(context, request) {
      const versions = await service.listVersions(context, request.planKey);
      // Padded, because positions are compared as texts.
      const keyOf = ({ version }: PlanVersion) => String(version).padStart(10, "0");
      const read = async (wanted: Page) => pageOf(versions, keyOf, wanted);
      const page = await context.page("versions", request, [request.planKey], read, keyOf);
      return { ...page, versions: page.versions.map(fromVersion) };
    },
  };
}

const intervals = enumNumbers(IntervalNumber);
const models = enumNumbers(ModelNumber);
const statuses = enumNumbers(PlanStatus);

/** Converts the terms of a request. */
function toTerms({ currency, interval, prices, entitlements, limits }: TermsMessage): PlanTerms {
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

const fromPlan = (plan: Plan) => ({ ...plan, status: statuses[plan.status] });

const fromVersion = ({ terms, ...version }: PlanVersion) => ({
  ...version,
  terms: {
    ...terms,
    interval: intervals[terms.interval],
    prices: terms.prices.map((price) => ({ ...price, model: models[price.model] })),
  },
});
