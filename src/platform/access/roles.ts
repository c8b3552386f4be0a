/**
 * What each role grants, as scopes `resource:action`; `*` stands for any.
 * `*:read` never covers what is guarded: see guardedResources.
 */
export const roleGrants: Readonly<Record<string, readonly string[]>> = {
  viewer: ["*:read"],
  operator: ["*:read", "environment:write", "event:write"],
  admin: ["*:*"],
  service: ["event:read", "event:write", "discovery:read"],
  secret_manager: ["secret:*"],
  config_manager: ["config:*"],
};

/** Resources that "read everything" does not include. */
const guardedResources = new Set(["secret"]);

/** Everything that roles and own scopes grant together. */
export function grantedScopes(roles: readonly string[], scopes: readonly string[]): ReadonlySet<string> {
  const granted = new Set(scopes);
  for (const role of roles) for (const scope of roleGrants[role] ?? []) granted.add(scope);
  return granted;
}

/** Whether granted scopes cover one that is wanted; a wanted `pool:*` is covered by `pool:*` or `*:*` only. */
export function covers(granted: ReadonlySet<string>, wanted: string): boolean {
  if (granted.has(wanted) || granted.has("*:*")) return true;
  const at = wanted.indexOf(":");
  const resource = wanted.slice(0, at);
  if (granted.has(`${resource}:*`)) return true;
  return !guardedResources.has(resource) && granted.has(`*${wanted.slice(at)}`);
}
