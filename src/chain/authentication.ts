import { fail } from "../errors/index.ts";
import type { Principal } from "../platform/access/index.ts";
import type { Call, Interceptor } from "./call.ts";

/** Tells who calls; undefined when the call carries no credentials that it knows how to read. */
export type Authenticator = (call: Call) => Principal | undefined | Promise<Principal | undefined>;

/** Step 5: the caller is known. The first authenticator that recognises the credentials decides. */
export function authentication(authenticators: readonly Authenticator[]): Interceptor {
  return async (call, next) => {
    for (const authenticate of authenticators) {
      const found = authenticate(call);
      const principal = found instanceof Promise ? await found : found;
      if (principal === undefined) continue;
      call.principal = principal;
      return next(call);
    }
    if (!call.operation.governance.authenticationRequired) return next(call);
    throw fail("UNAUTHENTICATED", {
      public: "Send a key in X-API-Key or a token in Authorization: Bearer.",
      headers: { "www-authenticate": 'Bearer realm="service"' },
    });
  };
}
