/**
 * What each role grants, as scopes `resource:action`; `*` stands for any.
 * `*:read` never covers what is guarded: see guardedResources.
 */
export const roleGrants: Readonly<Record<string, readonly string[]>> = {
  viewer: ["*:read"],
  operator: [
    "*:read",
    "environment:write",
    "event:write",
    "webhook:write",
    "dlq:write",
    "pool:write",
    "recipient:write",
    "rule:write",
    "route:write",
    "queue:write",
    "work:write",
    "outcome:write",
    "notification:write",
    "layout:write",
  ],
  admin: ["*:*"],
  service: [
    "event:read",
    "event:write",
    "discovery:read",
    "pool:read",
    "recipient:read",
    "route:write",
    "decision:read",
    "queue:read",
    "work:write",
    "outcome:read",
    "outcome:write",
    "notification:read",
    "notification:write",
    "layout:read",
  ],
  secret_manager: ["secret:*"],
  config_manager: ["config:*"],
  notification_admin: ["notification:*", "layout:*"],
};

/** Roles that operations ask for by name, besides their scopes. */
const rolesAskedFor = new Set(["admin"]);

/** Whoever gives something away: what they have themselves. */
interface Holder {
  readonly roles: readonly string[];
  readonly scopes: ReadonlySet<string>;
}

/** Resources that "read everything" does not include. */
const guardedResources = new Set(["secret"]);

/** Everything that roles and own scopes grant together. */
export function grantedScopes(roles: readonly string[], scopes: readonly string[]): ReadonlySet<string> {
  const granted = new Set(scopes);
  for (const role of roles)
    if (Object.hasOwn(roleGrants, role)) for (const scope of roleGrants[role]!) granted.add(scope);
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

/** The index of the first role that does not exist; -1 when all do. */
export function unknownRole(roles: readonly string[]): number {
  return roles.findIndex((role) => !Object.hasOwn(roleGrants, role));
}

/**
 * The first role that is more than whoever gives it has; undefined when none is. Scopes are not enough for a role that
 * operations ask for by its name: only who has it can give it.
 */
export function roleBeyond({ roles: own, scopes }: Holder, roles: readonly string[]): string | undefined {
  return roles.find((role) => {
    if (rolesAskedFor.has(role) && !own.includes(role)) return true;
    return roleGrants[role]!.some((scope) => !covers(scopes, scope));
  });
}
