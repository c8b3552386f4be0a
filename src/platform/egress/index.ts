/**
 * Egress: the only path for requests to destinations that tenants choose.
 *
 * policy: the names and addresses that may be reached. checked address: an address that the policy allows. Connections are made
 * to exactly this address, even if the name resolves to another one a moment later.
 */
export { createNetworkSet, toPlainAddress } from "./address.ts";
export {
  type CheckedAddress,
  type Egress,
  type EgressCall,
  EgressError,
  type EgressFailure,
  type EgressResponse,
} from "./egress.ts";
export { createEgress, type EgressGuard } from "./guard.ts";
export type { EgressMode, EgressPolicy } from "./policy.ts";
export type { Resolver } from "./resolver.ts";
export { urlRefusal } from "./target.ts";
