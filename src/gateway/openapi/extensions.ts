import { type Governance, GovernanceSchema } from "../../../gen/service/options/governance_pb.ts";
import type { Operation } from "../../definitions/index.ts";

/** An operation's governance as OpenAPI extensions. */
export type GovernanceExtensions = Readonly<Record<`x-service-${string}`, unknown>>;

/** Converts an operation's governance to extensions. */
export function toExtensions({ governance, tokenCost }: Operation): GovernanceExtensions {
  return {
    "x-service-lifecycle": nameOf("lifecycle", governance),
    "x-service-audience": nameOf("audience", governance),
    "x-service-authentication-required": governance.authenticationRequired,
    "x-service-authorization-required": governance.authorizationRequired,
    "x-service-authz-resource": governance.resource,
    "x-service-authz-action": governance.action,
    "x-service-authz-scopes": governance.scopes,
    "x-service-authz-roles": governance.roles,
    "x-service-entitlement": governance.entitlement,
    "x-service-internal-only": governance.internalOnly,
    "x-service-token-cost": tokenCost,
    "x-service-mutating": governance.mutating,
  };
}

/** Creates the extensions of a gateway endpoint, which needs no authentication. */
export function operationalExtensions(audience: "public" | "operator"): GovernanceExtensions {
  return {
    "x-service-lifecycle": "operational",
    "x-service-audience": audience,
    "x-service-authentication-required": false,
    "x-service-authorization-required": false,
    "x-service-authz-resource": "",
    "x-service-authz-action": "",
    "x-service-authz-scopes": [],
    "x-service-authz-roles": [],
    "x-service-entitlement": "",
    "x-service-internal-only": false,
    "x-service-token-cost": 0,
    "x-service-mutating": false,
  };
}

function nameOf(field: "lifecycle" | "audience", governance: Governance): string {
  const value = GovernanceSchema.field[field].enum!.value[governance[field]];
  return value?.localName.toLowerCase() ?? "";
}
