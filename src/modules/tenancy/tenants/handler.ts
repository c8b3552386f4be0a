import {
  type QuotaLimit,
  type TenantService as Rpc,
  Tenant_Status as Status,
} from "../../../../gen/service/api/tenant_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { enumNumbers, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import type { Tenant } from "./domain/tenant.ts";
import type { Quotas } from "./quotas.ts";
import type { TenantService } from "./service.ts";
import { tenantStore } from "./store.ts";

interface Dependencies {
  readonly service: TenantService;
  readonly quotas: Quotas;
  /** The daily quotas that come with a tenant's entitlements, by operation. */
  readonly readLimits: (tenantId: Tenant["id"]) => Promise<Readonly<Record<string, number>>>;
}

export function tenantHandlers({ service, quotas, readLimits }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createTenant(context, { name, slug, plan, settings = {}, quotas, issueAdminKey }) {
      const input = { name, slug, plan, settings, quotas: toQuotas(quotas) };
      const { tenant, adminKey } = await service.createTenant(context, input, issueAdminKey);
      return { tenant: { ...fromTenant(tenant), adminKey } };
    },

    getTenant: async (context, { tenantId }) => ({ tenant: fromTenant(await service.getTenant(context, tenantId)) }),

    async updateTenant(context, { tenantId, name, plan, status, settings, quotas, recordVersion }) {
      const change = {
        ...{ name, plan, settings },
        status: status === undefined ? undefined : nameOf(statuses, status),
        quotas: Object.keys(quotas).length === 0 ? undefined : toQuotas(quotas),
      };
      return {
        tenant: fromTenant(await service.updateTenant(context, tenantId, change, expectedVersion(recordVersion))),
      };
    },

    async deleteTenant(context, { tenantId }) {
      return { tenant: fromTenant(await service.deleteTenant(context, tenantId)) };
    },

    async listTenants(context, request) {
      const only = context.platform ? undefined : context.tenantId;
      const status = nameOf(statuses, request.status);
      const page = await context.page("tenants", request, [status ?? ""], (wanted) =>
        tenantStore(context.sql).list({ only, status }, wanted),
      );
      return { ...page, tenants: page.tenants.map(fromTenant) };
    },

    async getTenantQuota(context, { tenantId, operation }) {
      const tenant = await service.getTenant(context, tenantId);
      const usage = await quotas.used(context.sql, tenant.id, operation);
      const limit = tenant.quotas[operation]?.limit_per_day ?? (await readLimits(tenant.id))[operation];
      const remaining = limit === undefined ? undefined : Math.max(limit - usage.used, 0);
      return { quota: { ...usage, operation, limit, remaining } };
    },
  };
}

const statuses = enumNumbers(Status);

function toQuotas(quotas: Record<string, QuotaLimit>): Tenant["quotas"] {
  return Object.fromEntries(
    Object.entries(quotas).map(([operation, { limitPerDay }]) => [operation, { limit_per_day: Number(limitPerDay) }]),
  );
}

function fromTenant(tenant: Tenant) {
  const quotas = Object.entries(tenant.quotas).map(([operation, quota]) => [
    operation,
    { limitPerDay: quota.limit_per_day },
  ]);
  return { ...tenant, status: statuses[tenant.status], quotas: Object.fromEntries(quotas) };
}
