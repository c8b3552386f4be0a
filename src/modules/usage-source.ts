import type { TenantId } from "../platform/access/index.ts";
import type { Fragment, Sql } from "../platform/db/index.ts";

/** A time range without its end. */
export interface UsageWindow {
  readonly from: Date;
  readonly until: Date;
  /** Only this tenant; all if undefined. */
  readonly tenantId?: TenantId | undefined;
}

/** The usage of a tenant in a window. */
export interface TenantUsage {
  readonly tenantId: TenantId;
  readonly quantity: number;
}

/** Something that an area does for tenants and that is metered. It is derived from stored rows, off the path of calls. */
export interface UsageSource {
  /** The meter that it feeds. */
  readonly meterKey:
    | "service.routes"
    | "service.deliveries"
    | "service.runs"
    | "service.executions"
    | "service.storage";
  /**
   * count: how often something happened in the window. Measuring a past window again gives the same result, a greater one
   * if a call was committed late, or a smaller one if something was undone. gauge: the current state, whatever the window.
   */
  readonly kind: "count" | "gauge";
  /** Measures the tenants of the window that have usage. */
  measure(sql: Sql, window: UsageWindow): Promise<TenantUsage[]>;
}

/** The tenants of a window, as `t`. */
export function measuredTenants(sql: Sql, { tenantId }: UsageWindow): Fragment {
  return tenantId === undefined ? sql`tenants t` : sql`(select id from tenants where id = ${tenantId}) t`;
}
