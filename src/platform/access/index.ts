/**
 * Access: principals and their permissions.
 *
 * principal: an authenticated caller. scope: a permission of the form `resource:action`. role: a named set of scopes.
 * ceiling: the permissions of a caller, which it cannot exceed when it grants permissions to others.
 */
export { beyondCeiling, limitAccess } from "./ceiling.ts";
export { requireEnvironmentAccess } from "./environment-access.ts";
export {
  environmentIdOf,
  findEnvironment,
  type ReferredEnvironment,
  requireEnvironment,
  requireEnvironmentId,
} from "./environment-reference.ts";
export {
  type EnvironmentMode,
  isWithinMode,
  mayUseEnvironment,
  modeAllows,
  modeOf,
  type Principal,
  productionKey,
  productionOf,
  type TenantId,
} from "./principal.ts";
export { covers, grantedScopes, roleBeyond, roleGrants, rolesWith, unknownRole } from "./roles.ts";
export { grantableScopes } from "./scopes.ts";
