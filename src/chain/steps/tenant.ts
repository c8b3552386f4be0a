import { fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Call, Interceptor, Next } from "../call.ts";
import type { TenantState, TenantStateReader } from "../tenant-state.ts";

/** Step 7: sets the call's tenant. It is always the caller's own tenant, never one from the request, and must be active. */
export function tenantExtraction(readTenantState: TenantStateReader): Interceptor {
  function admit(call: Call, tenantId: TenantId, tenantState: TenantState | undefined, next: Next): ReturnType<Next> {
    if (tenantState === undefined || tenantState.status === "deleted") {
      throw fail("UNAUTHENTICATED", { public: "The credentials belong to a tenant that does not exist." });
    }
    if (tenantState.status === "suspended") throw fail("TENANT_SUSPENDED", { public: "The tenant is suspended." });
    call.tenantId = tenantId;
    call.tenantState = tenantState;
    return next(call);
  }
  return (call, next) => {
    const { principal } = call;
    if (principal === undefined) return next(call);
    const selected = call.header("x-tenant-id");
    if (selected !== undefined && selected !== principal.tenantId && !call.operation.governance.tenantExempt) {
      throw fail("TENANT_MISMATCH", {
        public: "X-Tenant-ID is not the caller's own tenant. Send the caller's tenant id, or omit the header.",
      });
    }
    const { tenantId } = principal;
    const found = readTenantState(tenantId);
    return found instanceof Promise
      ? found.then((tenantState) => admit(call, tenantId, tenantState, next))
      : admit(call, tenantId, found, next);
  };
}

/**
 * The effective limit: a tenant may lower the instance's limit, or set one if the instance has none (0). `share` is the part of the
 * tenant's limit that applies here, as the instance's is already.
 */
export function effectiveLimit(
  instance: number,
  tenantState: TenantState | undefined,
  setting: string,
  share: (total: number) => number,
): number {
  const own = tenantState?.settings[setting];
  if (typeof own !== "number" || own <= 0) return instance;
  return instance === 0 ? share(own) : Math.min(instance, share(own));
}
