import type { TenantId } from "../platform/access/index.ts";

/** The state of a tenant that the chain needs on every call. */
export interface TenantState {
  readonly status: "active" | "suspended" | "deleted";
  /** Whether this is the platform tenant, which may read and create others. */
  readonly platform: boolean;
  /** Daily limits by operation. */
  readonly quotas: Readonly<Record<string, number>>;
  /** The tenant's own settings, by key. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Reads a tenant's state, without a promise if it is in memory. */
export type TenantStateReader = (tenantId: TenantId) => TenantState | undefined | Promise<TenantState | undefined>;
