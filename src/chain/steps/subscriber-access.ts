import { fail } from "../../errors/index.ts";
import type { Call } from "../call.ts";

/** Refuses a call with a subscriber token, unless its operation accepts such tokens. No setting changes this. */
export function requireSubscriberOperation({ principal, operation: { governance } }: Call): void {
  if (principal?.subscriberId === undefined || governance.subscriberToken || !governance.authenticationRequired) return;
  throw fail("PERMISSION_DENIED", { public: "A subscriber token gives access only to an inbox and to preferences." });
}

/** Refuses a call with a subscriber token that names another subscriber, whether that one exists or not. */
export function requireOwnSubscriber({ principal, operation, message }: Call): void {
  if (principal?.subscriberId === undefined || !operation.governance.subscriberToken) return;
  if ((message as unknown as { readonly subscriberId: string }).subscriberId === principal.subscriberId) return;
  throw fail("PERMISSION_DENIED", { public: "The token belongs to another subscriber than the request names." });
}
