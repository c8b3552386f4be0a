import type { TenantId } from "../../../../platform/access/index.ts";
import type { EnforcementMode, Reason, Verdict } from "./evaluation.ts";

/** Issuer of a snapshot: the subscription to a plan, an operator, or a system outside of the service. */
export type SourceKind = "plan" | "operator" | "external";

/** Entitlements, and the daily quotas that come with them. */
export interface Grants {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Daily quotas by operation. */
  readonly limits: Readonly<Record<string, bigint>>;
}

/** The entitlements of a tenant from one point in time on. */
export interface Snapshot extends Grants {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly version: number;
  readonly sourceKind: SourceKind;
  readonly sourceRef: string;
  readonly issuedAt: Date;
  readonly freshUntil: Date;
}

/** Calls of one minute that were admitted without an entitlement, or denied. */
export interface Evidence {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly minute: Date;
  readonly item: string;
  readonly operation: string;
  readonly mode: EnforcementMode;
  readonly verdict: Verdict;
  readonly reason: Reason;
  readonly snapshotVersion: number;
  readonly count: number;
}

/** The first item that is both allowed and denied; undefined without one. */
export function conflictOf({ allow, deny }: Pick<Grants, "allow" | "deny">): string | undefined {
  const denied = new Set(deny);
  return allow.find((item) => denied.has(item));
}

/** Applies a tenant's exceptions to the grants of a plan. A denied entitlement is never allowed. */
export function planGrants(plan: Omit<Grants, "deny">, overrides: Grants): Grants {
  const denied = new Set(overrides.deny);
  const allow = [...new Set([...plan.allow, ...overrides.allow])].filter((item) => !denied.has(item));
  return { allow, deny: overrides.deny, limits: { ...plan.limits, ...overrides.limits } };
}
