import { fail } from "../../errors/index.ts";
import type { Principal } from "../../platform/access/index.ts";
import type { Call, Interceptor, Next } from "../call.ts";
import type { Challenge } from "./challenge.ts";

/** Tells who calls; undefined when the call carries no credentials that it knows how to read. */
export type Authenticator = (call: Call) => Principal | undefined | Promise<Principal | undefined>;

/** Step 5: the caller is known. The first authenticator that recognises the credentials decides. */
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
  // Not an async function: most callers are known from memory, and each wait costs every call.
  return (call, next) => {
    const found = identify(call);
    return found instanceof Promise
      ? found.then((principal) => admit(call, principal, next))
      : admit(call, found, next);
  };
}
