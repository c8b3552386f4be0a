/**
 * Access: who calls, and what that allows.
 *
 * principal: an authenticated caller. scope: `resource:action`. role: a named set of scopes.
 */
export { beyondCeiling } from "./ceiling.ts";
export {
  type EnvironmentMode,
  isWithinMode,
  mayUseEnvironment,
  modeAllows,
  type Principal,
  type TenantId,
} from "./principal.ts";
export { covers, grantedScopes, roleBeyond, roleGrants, unknownRole } from "./roles.ts";
export { grantableScopes } from "./scopes.ts";
