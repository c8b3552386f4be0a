import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateTenantResponseSchema,
  DeleteTenantResponseSchema,
  GetTenantQuotaResponseSchema,
  GetTenantResponseSchema,
  ListTenantsResponseSchema,
  type QuotaLimit,
  QuotaLimitSchema,
  type TenantService as Rpc,
  Tenant_Status as Status,
  type Tenant as TenantMessage,
  TenantSchema,
  UpdateTenantResponseSchema,
} from "../../../../gen/service/api/tenant_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, nameOf, stampFields } from "../../../platform/records/index.ts";
import type { Tenant } from "./domain/tenant.ts";
import type { Quotas } from "./quotas.ts";
import type { TenantService } from "./service.ts";
import { tenantStore } from "./store.ts";

interface Dependencies {
  readonly service: TenantService;
  readonly quotas: Quotas;
  readonly cursors: Cursors;
  /** The daily quotas that come with a tenant's entitlements, by operation. */
  readonly readLimits: (tenantId: Tenant["id"]) => Promise<Readonly<Record<string, number>>>;
}

export function tenantHandlers({ service, quotas, cursors, readLimits }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createTenant(context, request) {
      const { tenant, adminKey } = await service.createTenant(
        context,
        {
          name: request.name,
          slug: request.slug,
          plan: request.plan,
          settings: request.settings ?? {},
          quotas: toQuotas(request.quotas),
        },
        request.issueAdminKey,
      );
      return create(CreateTenantResponseSchema, { tenant: fromTenant(tenant, adminKey) });
    },

    async getTenant(context, request) {
      const tenant = await service.getTenant(context, request.tenantId);
      return create(GetTenantResponseSchema, { tenant: fromTenant(tenant) });
    },

    async updateTenant(context, request) {
      const change = {
        name: request.name,
        plan: request.plan,
        status: request.status === undefined ? undefined : nameOf(statuses, request.status),
        settings: request.settings,
        quotas: Object.keys(request.quotas).length === 0 ? undefined : toQuotas(request.quotas),
      };
      const tenant = await service.updateTenant(
        context,
        request.tenantId,
        change,
        expectedVersion(request.recordVersion),
      );
      return create(UpdateTenantResponseSchema, { tenant: fromTenant(tenant) });
    },

    async deleteTenant(context, request) {
      const tenant = await service.deleteTenant(context, request.tenantId);
      return create(DeleteTenantResponseSchema, { tenant: fromTenant(tenant) });
    },

    async listTenants(context, request) {
      const filter = {
        only: context.platform ? undefined : context.tenantId,
        status: nameOf(statuses, request.status),
      };
      const scope = { tenantId: context.tenantId, operation: context.operation.id, filter: [filter.status ?? ""] };
      const page = await readPage(
        cursors,
        request,
        scope,
        (tenant: Tenant) => tenant.id,
        (wanted) => tenantStore(context.sql).list(filter, wanted),
      );
      return create(ListTenantsResponseSchema, { ...page, tenants: page.items.map((tenant) => fromTenant(tenant)) });
    },

    async getTenantQuota(context, request) {
      const tenant = await service.getTenant(context, request.tenantId);
      const { used, resetsAt } = await quotas.used(context.sql, tenant.id, request.operation);
      const limit = tenant.quotas[request.operation]?.limit_per_day ?? (await readLimits(tenant.id))[request.operation];
      return create(GetTenantQuotaResponseSchema, {
        quota: {
          operation: request.operation,
          used: BigInt(used),
          resetsAt: timestampFromDate(resetsAt),
          ...(limit !== undefined && { limit: BigInt(limit), remaining: BigInt(Math.max(limit - used, 0)) }),
        },
      });
    },
  };
}

const statuses = { active: Status.ACTIVE, suspended: Status.SUSPENDED, deleted: Status.DELETED } as const;

function toQuotas(quotas: Record<string, QuotaLimit>): Tenant["quotas"] {
  return Object.fromEntries(
    Object.entries(quotas).map(([operation, { limitPerDay }]) => [operation, { limit_per_day: Number(limitPerDay) }]),
  );
}

function fromTenant(tenant: Tenant, adminKey?: string): TenantMessage {
  return create(TenantSchema, {
    id: tenant.id,
    name: tenant.name,
    slug: tenant.slug,
    status: statuses[tenant.status],
    plan: tenant.plan,
    settings: tenant.settings as never,
    quotas: Object.fromEntries(
      Object.entries(tenant.quotas).map(([operation, quota]) => [
        operation,
        create(QuotaLimitSchema, { limitPerDay: BigInt(quota.limit_per_day) }),
      ]),
    ),
    platform: tenant.platform,
    ...stampFields(tenant),
    adminKey,
  });
}
