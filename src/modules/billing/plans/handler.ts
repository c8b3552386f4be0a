import { create } from "@bufbuild/protobuf";
import {
  ArchivePlanResponseSchema,
  CreatePlanResponseSchema,
  CreatePlanVersionResponseSchema,
  GetPlanResponseSchema,
  GetPlanVersionResponseSchema,
  ListPlansResponseSchema,
  ListPlanVersionsResponseSchema,
  type PlanService as Rpc,
} from "../../../../gen/service/api/plan_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { pageOf, readPage } from "../../../platform/paging/index.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import { fromPlan, fromVersion, toTerms } from "./messages.ts";
import type { PlanService } from "./service.ts";
import { planStore } from "./store.ts";

export function planHandlers(
  service: PlanService,
  cursors: Cursors,
  platformTenantId: () => TenantId,
): Handlers<typeof Rpc> {
  return {
    async createPlan(context, { key, name, description, selfService, terms }) {
      const input = { key, name, description, selfService, terms: toTerms(terms!) };
      return create(CreatePlanResponseSchema, { plan: fromPlan(await service.createPlan(context, input)) });
    },

    async getPlan(context, { planKey }) {
      return create(GetPlanResponseSchema, { plan: fromPlan(await service.requirePlan(context.sql, planKey)) });
    },

    async listPlans(context, request) {
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id },
        (plan: Plan) => plan.key,
        (wanted) => planStore(context.sql).list(platformTenantId(), wanted),
      );
      return create(ListPlansResponseSchema, { ...page, plans: page.items.map(fromPlan) });
    },

    async archivePlan(context, { planKey }) {
      return create(ArchivePlanResponseSchema, { plan: fromPlan(await service.archivePlan(context, planKey)) });
    },

    async createPlanVersion(context, { planKey, terms }) {
      const version = await service.createVersion(context, planKey, toTerms(terms!));
      return create(CreatePlanVersionResponseSchema, { version: fromVersion(version) });
    },

    async getPlanVersion(context, { planKey, version: wanted }) {
      const planVersion = wanted === "latest" ? 0 : Number(wanted);
      const version = await service.findVersion(context.sql, { planKey, planVersion });
      return create(GetPlanVersionResponseSchema, { version: fromVersion(version) });
    },

    async listPlanVersions(context, request) {
      const versions = await service.listVersions(context, request.planKey);
      // Padded, because positions are compared as texts.
      const keyOf = ({ version }: PlanVersion) => String(version).padStart(10, "0");
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id, filter: [request.planKey] },
        keyOf,
        async (wanted) => pageOf(versions, keyOf, wanted),
      );
      return create(ListPlanVersionsResponseSchema, { ...page, versions: page.items.map(fromVersion) });
    },
  };
}
