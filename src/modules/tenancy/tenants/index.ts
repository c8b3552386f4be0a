/**
 * Tenants: the units of isolation. Every record belongs to one.
 *
 * Platform tenant: the first tenant, which can see and create the others.
 * State: the part of a tenant that the chain needs on every call, cached in memory.
 * Quota: a tenant's maximum number of calls of an operation per UTC day.
 * Scratch tenant: a tenant that the service creates for a piece of its own work, and removes with everything in it.
 */

import type { QuotaReceipt } from "../../../chain/call.ts";
import type { TenantStateReader } from "../../../chain/tenant-state.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, lockFor } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Tenant } from "./domain/tenant.ts";
import { tenantHandlers } from "./handler.ts";
import { purgeTenantJob } from "./jobs.ts";
import { createQuotas } from "./quotas.ts";
import { createScratchTenants } from "./scratch-tenants.ts";
import { createTenantService, type TenantParts } from "./service.ts";
import { tenantStore } from "./store.ts";

export type { QuotaRequest, Quotas } from "./quotas.ts";
export type { ScratchTenants } from "./scratch-tenants.ts";
export type { Tenant };

interface Dependencies extends Pick<PlatformServices, "db" | "clock">, TenantParts {
  /** The daily quotas that come with a tenant's entitlements, by operation; none by default. */
  readonly readLimits?: (tenantId: TenantId) => Promise<Readonly<Record<string, number>>>;
  /** Whether settings that tenants set themselves are effective. */
  readonly tenantSettingsEnabled: boolean;
  /** Has the data of a tenant removed that is not in the database; returns whether any is left. */
  readonly releaseTenant: (tenantId: TenantId) => Promise<boolean>;
}

export function createTenants({
  db,
  clock,
  tenantSettingsEnabled,
  readLimits = async () => ({}),
  releaseTenant,
  ...parts
}: Dependencies) {
  const service = createTenantService(parts);
  const quotas = createQuotas(db.sql, clock);
  const cache = createTenantCache({
    changes: parts.changes,
    load: async (tenantId: TenantId) => {
      const row = await tenantStore(db.sql).readState(tenantId);
      if (row === undefined) return undefined;
      const limits = Object.entries(row.quotas).map(([operation, quota]) => [operation, quota.limit_per_day] as const);
      // A quota of the tenant itself takes precedence over one of its plan.
      const quotas = { ...(await readLimits(tenantId)), ...Object.fromEntries(limits) };
      return { ...row, quotas, settings: tenantSettingsEnabled ? row.settings : {} };
    },
    tenantOf: (tenantId, state) => (state === undefined ? undefined : tenantId),
  });
  const readTenantState: TenantStateReader = (tenantId) => cache.get(tenantId);

  return {
    handlers: tenantHandlers({ service, quotas, readLimits }),
    jobs: [purgeTenantJob({ sql: db.sql, clock, releaseTenant })],
    quotas,
    readTenantState,
    find: (tenantId: TenantId): Promise<Tenant | undefined> => tenantStore(db.sql).find(tenantId),
    scratch: createScratchTenants({ ...parts, addTenant: service.addTenant }),

    /** The tenant as the address of its workspace names it. */
    async findSlug(tenantId: TenantId): Promise<string | undefined> {
      return (await tenantStore(db.sql).find(tenantId))?.slug;
    },

    /** Charges a tenant's daily quota for work that no call asked for, or throws QUOTA_EXCEEDED; undefined if unlimited. */
    async takeQuota(tenantId: TenantId, operation: string, count: number): Promise<QuotaReceipt | undefined> {
      const limit = (await readTenantState(tenantId))?.quotas[operation];
      return limit === undefined ? undefined : quotas.take(tenantId, operation, limit, count);
    },

    /** Returns the platform tenant, and creates it if necessary. Several nodes can call this concurrently. */
    async ensurePlatform(): Promise<Tenant> {
      const found = await tenantStore(db.sql).findPlatform();
      if (found !== undefined) return found;
      return db.transaction(async (tx) => {
        await lockFor(tx, "platform_tenant");
        const existing = await tenantStore(tx).findPlatform();
        const input = { name: "Platform", slug: "platform", plan: "", settings: {}, quotas: {}, platform: true };
        return existing ?? service.addTenant(tx, input, clock.now());
      });
    },
  };
}
