import { fail } from "../../errors/index.ts";
import type { Principal } from "../../platform/access/index.ts";
import type { Call, Interceptor, Next } from "../call.ts";
import type { Challenge } from "./challenge.ts";

/** Identifies the caller; undefined if the call carries no credentials of the authenticator's kind. */
export type Authenticator = (call: Call) => Principal | undefined | Promise<Principal | undefined>;

/** Step 5: authenticates the caller. The first authenticator that recognises the credentials decides. */
export function authentication(authenticators: readonly Authenticator[], { advice }: Challenge): Interceptor {
  function identify(call: Call, from = 0): ReturnType<Authenticator> {
    for (let i = from; i < authenticators.length; i++) {
      const found = authenticators[i]!(call);
      if (found instanceof Promise) return found.then((principal) => principal ?? identify(call, i + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  function admit(call: Call, principal: Principal | undefined, next: Next): ReturnType<Next> {
    if (principal !== undefined) call.principal = principal;
    else if (call.operation.governance.authenticationRequired) {
      throw fail("UNAUTHENTICATED", { public: advice });
    }
    return next(call);
  }
  // Not async: most callers are found in memory, and every await adds latency to every call.
  return (call, next) => {
    const found = identify(call);
    return found instanceof Promise
      ? found.then((principal) => admit(call, principal, next))
      : admit(call, found, next);
  };
}
