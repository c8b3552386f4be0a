import { fail } from "../../errors/index.ts";
import { covers } from "../../platform/access/index.ts";
import type { Call, Interceptor } from "../call.ts";

/** Decides whether a call is allowed; throws PERMISSION_DENIED when it is not. */
export type Authorizer = (call: Call) => void;

/** The built-in authorizer: the caller needs every scope of the operation and, where it names roles, one of them. */
export const scopesAndRoles: Authorizer = ({ principal, operation }) => {
  if (principal === undefined) throw fail("PERMISSION_DENIED", { public: "The caller is not known." });
  for (const scope of operation.scopes) {
    if (!covers(principal.scopes, scope)) {
      throw fail("PERMISSION_DENIED", { public: `The operation needs the scope ${scope}.` });
    }
  }
  const { roles } = operation.governance;
  if (roles.length > 0 && !roles.some((role) => principal.roles.includes(role))) {
    throw fail("PERMISSION_DENIED", { public: `The operation needs the role ${roles.join(" or ")}.` });
  }
};

/** Step 6: the caller may do this. Without an authorizer the setting authz.allow_when_unconfigured decides. */
export function authorization(authorizer: Authorizer | undefined, allowWhenUnconfigured: boolean): Interceptor {
  return (call, next) => {
    if (call.operation.governance.authorizationRequired) {
      if (authorizer !== undefined) authorizer(call);
      else if (!allowWhenUnconfigured) {
        throw fail("PERMISSION_DENIED", { public: "No authorizer is configured, and such calls are denied." });
      }
    }
    return next(call);
  };
}
