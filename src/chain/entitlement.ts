import type { Operation } from "../definitions/index.ts";
import type { TenantId } from "../platform/access/index.ts";

/**
 * Throws ENTITLEMENT_DENIED if a tenant may not use an operation that names an entitlement. Returns a promise only if the
 * tenant's entitlements are not in memory. A repeated check of a call does not record again that the call was admitted.
 */
export type EntitlementCheck = (
  tenantId: TenantId,
  operation: Operation,
  options?: { readonly isRepeated: boolean },
) => void | Promise<void>;
