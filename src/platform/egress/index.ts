/**
 * Egress: whatever the service sends to an address that a tenant chose goes out through here, and nowhere else.
 *
 * policy: which names and addresses may be reached. checked address: one that the policy let pass; connections go to
 * exactly these, whatever the name resolves to a moment later.
 */
export {
  type CheckedAddress,
  type Egress,
  type EgressAnswer,
  type EgressCall,
  EgressError,
  type EgressFault,
} from "./egress.ts";
export { createEgress, type EgressGuard } from "./guard.ts";
export type { EgressMode, EgressPolicy } from "./policy.ts";
export type { Resolver } from "./resolver.ts";
export { urlRefusal } from "./target.ts";
