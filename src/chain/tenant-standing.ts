import type { TenantId } from "../platform/access/index.ts";

/** What the chain must know of a tenant on every call. */
export interface TenantStanding {
  readonly status: "active" | "suspended" | "deleted";
  /** Whether this is the platform tenant, which may see and make others. */
  readonly platform: boolean;
  /** Daily limits by operation. */
  readonly quotas: Readonly<Record<string, number>>;
  /** What the tenant set itself, by setting. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Reads a tenant's standing, from memory when it is there. */
export type TenantStandings = (tenantId: TenantId) => TenantStanding | undefined | Promise<TenantStanding | undefined>;
