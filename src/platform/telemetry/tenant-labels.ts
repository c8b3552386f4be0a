/** The label that names the tenant of a series. */
export const tenantLabel = "tenant_id";

/** The value of the label for all tenants beyond the bound. No tenant has this id. */
const otherTenants = "other";

/** Which tenants the series of this process name. */
export interface TenantLabels {
  /** Whether series are labelled by tenant. */
  readonly isEnabled: boolean;
  /** The label value of a tenant; empty if series are not labelled. */
  of(tenantId: string): string;
}

/**
 * Bounds the tenants that metrics name: the first `max` that this process sees have series of their own, and all others share
 * one. Without a bound, every tenant would add series to every metric for as long as the process runs. 0 labels nothing.
 */
export function createTenantLabels(max: number): TenantLabels {
  const named = new Set<string>();
  return {
    isEnabled: max > 0,
    of(tenantId) {
      if (max === 0 || named.has(tenantId)) return max === 0 ? "" : tenantId;
      if (named.size >= max || tenantId === otherTenants) return otherTenants;
      named.add(tenantId);
      return tenantId;
    },
  };
}
