import { fail } from "../../errors/index.ts";
import { covers } from "../../platform/access/index.ts";
import type { Call, Interceptor } from "../call.ts";
import type { EntitlementCheck } from "../entitlement.ts";
import { requireSubscriberOperation } from "./subscriber-access.ts";

/** Throws PERMISSION_DENIED if a call is not allowed. */
export type Authorizer = (call: Call) => void;

/** The built-in authorizer: the caller needs every scope of the operation and one of its roles, if it lists any. */
export const scopesAndRoles: Authorizer = ({ principal, operation }) => {
  if (principal === undefined) throw fail("PERMISSION_DENIED", { public: "The caller is not authenticated." });
  for (const scope of operation.scopes) {
    if (!covers(principal.scopes, scope)) {
      throw fail("PERMISSION_DENIED", { public: `The operation requires the scope ${scope}.` });
    }
  }
  const { roles } = operation.governance;
  if (roles.length > 0 && !roles.some((role) => principal.roles.includes(role))) {
    throw fail("PERMISSION_DENIED", { public: `The operation requires the role ${roles.join(" or ")}.` });
  }
};

/**
 * Step 6: authorizes the call. Without an authorizer the setting authz.allow_when_unconfigured decides. Last, the
 * entitlement that the operation names is checked: nobody learns about the entitlements of a tenant without access to it.
 */
export function authorization(
  authorizer: Authorizer | undefined,
  allowWhenUnconfigured: boolean,
  checkEntitlement: EntitlementCheck | undefined,
): Interceptor {
  return (call, next) => {
    requireSubscriberOperation(call);
    if (call.operation.governance.authorizationRequired) {
      if (authorizer !== undefined) authorizer(call);
      else if (!allowWhenUnconfigured) {
        throw fail("PERMISSION_DENIED", {
          public: "No authorizer is configured: the operator must set authz.provider=builtin.",
        });
      }
    }
    const { operation, principal } = call;
    if (operation.governance.entitlement === "" || principal === undefined || checkEntitlement === undefined) {
      return next(call);
    }
    const checked = checkEntitlement(principal.tenantId, operation);
    return checked === undefined ? next(call) : checked.then(() => next(call));
  };
}
