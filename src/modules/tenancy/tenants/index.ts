/**
 * Tenants: the owners of everything else.
 *
 * platform tenant: the first one; it sees and makes the others.
 * state: the part of a tenant that the chain needs on every call, cached in memory.
 * quota: how many of an operation a tenant may do in a UTC day.
 */
import type { TenantStateReader } from "../../../chain/tenant-state.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { createTenantCache, type Database } from "../../../platform/db/index.ts";
import type { Tenant } from "./domain/tenant.ts";
import { tenantHandlers } from "./handler.ts";
import { purgeTenantJob } from "./jobs.ts";
import { createQuotas } from "./quotas.ts";
import { createTenantService, type TenantParts } from "./service.ts";
import { tenantStore } from "./store.ts";

export type { Quotas, QuotaTake } from "./quotas.ts";
export type { Tenant };

interface Parts extends TenantParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** Whether what tenants set for themselves is in force. */
  readonly ownSettings: boolean;
}

/** Makes the module. */
export function createTenants({ db, clock, cursors, ownSettings, ...parts }: Parts) {
  const service = createTenantService(parts);
  const quotas = createQuotas(db.sql, clock);
  const cache = createTenantCache({
    changes: parts.changes,
    load: async (tenantId: TenantId) => {
      const row = await tenantStore(db.sql).readState(tenantId);
      if (row === undefined) return undefined;
      const limits = Object.entries(row.quotas).map(([operation, quota]) => [operation, quota.limit_per_day] as const);
      return { ...row, quotas: Object.fromEntries(limits), settings: ownSettings ? row.settings : {} };
    },
    tenantOf: (tenantId, state) => (state === undefined ? undefined : tenantId),
  });
  const readTenantState: TenantStateReader = (tenantId) => cache.get(tenantId);

  return {
    handlers: tenantHandlers(service, quotas, cursors),
    jobs: [purgeTenantJob(db.sql)],
    quotas,
    readTenantState,

    /** The platform tenant, made when there is none yet; many nodes may ask at once. */
    async ensurePlatform(): Promise<Tenant> {
      const found = await tenantStore(db.sql).findPlatform();
      if (found !== undefined) return found;
      return db.transaction(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended('switchyard.platform_tenant', 0))`;
        const made = await tenantStore(tx).findPlatform();
        const input = { name: "Platform", slug: "platform", plan: "", settings: {}, quotas: {}, platform: true };
        return made ?? service.addTenant(tx, input, clock.now());
      });
    },
  };
}
