import { fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Call, Interceptor, Next } from "../call.ts";
import type { TenantStanding, TenantStandings } from "../tenant-standing.ts";

/** Step 7: the tenant is the caller's own and in good standing. It never comes from the request itself. */
export function tenantExtraction(standings: TenantStandings): Interceptor {
  function admit(call: Call, tenantId: TenantId, standing: TenantStanding | undefined, next: Next): ReturnType<Next> {
    if (standing === undefined || standing.status === "deleted") {
      throw fail("UNAUTHENTICATED", { public: "The credentials belong to no tenant." });
    }
    if (standing.status === "suspended") throw fail("TENANT_SUSPENDED", { public: "The tenant is suspended." });
    call.tenantId = tenantId;
    call.standing = standing;
    return next(call);
  }
  return (call, next) => {
    const { principal } = call;
    if (principal === undefined) return next(call);
    const selected = call.header("x-tenant-id");
    if (selected !== undefined && selected !== principal.tenantId && !call.operation.governance.tenantExempt) {
      throw fail("TENANT_MISMATCH", { public: "X-Tenant-ID names a tenant other than the caller's own." });
    }
    const { tenantId } = principal;
    const found = standings(tenantId);
    return found instanceof Promise
      ? found.then((standing) => admit(call, tenantId, standing, next))
      : admit(call, tenantId, found, next);
  };
}

/** The limit in force: a tenant may lower the instance's, and set one where the instance has none (0). */
export function ownLimit(instance: number, standing: TenantStanding | undefined, setting: string): number {
  const own = standing?.settings[setting];
  if (typeof own !== "number" || own <= 0) return instance;
  return instance === 0 ? own : Math.min(instance, own);
}
