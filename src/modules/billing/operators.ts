import type { Context } from "../../chain/call.ts";
import type { TenantStateReader } from "../../chain/tenant-state.ts";
import { fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import { notFound } from "../../platform/db/index.ts";
import { isUlid } from "../../platform/ids/ulid.ts";

/** Decides who may act on plans, meters and the billing of other tenants. */
export type Operators = ReturnType<typeof createOperators>;

export function createOperators(readTenantState: TenantStateReader) {
  /** Whether the caller runs the service: an admin of the platform tenant, or a service on the internal plane. */
  const isOperator = (context: Context) => context.platform || context.plane === "internal";
  return {
    isOperator,
    /** Throws PERMISSION_DENIED unless the caller is an operator. */
    require(context: Context, action: string) {
      if (!isOperator(context)) throw fail("PERMISSION_DENIED", { public: `Only an operator may ${action}.` });
    },
    /** The tenant that a request names, or the caller's own. For others than operators, no other tenant exists. */
    async requireTenant(context: Context, tenantId: string): Promise<TenantId> {
      if (tenantId === "" || tenantId === context.tenantId) return context.tenantId;
      // A service on the internal plane acts for the tenant of its token only.
      if (!context.platform || !isUlid(tenantId)) throw notFound("tenant");
      const state = await readTenantState(tenantId as TenantId);
      if (state === undefined || state.status === "deleted") throw notFound("tenant");
      return tenantId as TenantId;
    },
  };
}
