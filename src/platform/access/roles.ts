/** Scopes that every signed-in person needs: their own session, and the names that the console shows. */
const signedIn = ["browser_session:read", "browser_session:write", "discovery:read", "environment:read"];

/**
 * The scopes of each role, of the form `resource:action`; `*` matches any.
 * `*:read` does not cover guarded resources, see guardedResources.
 */
export const roleGrants: Readonly<Record<string, readonly string[]>> = {
  viewer: ["*:read", "browser_session:write", "evidence:export"],
  operator: [
    "*:read",
    "browser_session:write",
    "environment:write",
    "event:write",
    "webhook:write",
    "dlq:write",
    "pool:write",
    "recipient:write",
    "rule:write",
    "route:write",
    "queue:write",
    "schedule:write",
    "work:write",
    "outcome:write",
    "notification:write",
    "layout:write",
    "workflow_definition:write",
    "workflow_trigger:write",
    "connector_trigger:write",
    "workflow_task:write",
    "workflow_run:write",
    "workflow_run:approve",
    "workflow_stream:write",
    "workflow_dlq:write",
    "marketplace:install",
    "connector_action:execute",
    "experiment:write",
    "experiment:assign",
    "experiment:score",
    "promotion:write",
    "usage:write",
    "evidence:write",
    "evidence:run",
    "evidence:export",
    "conformance:run",
  ],
  admin: ["*:*"],
  service: [
    ...signedIn,
    "event:read",
    "event:write",
    "pool:read",
    "recipient:read",
    "route:write",
    "decision:read",
    "queue:read",
    "work:read",
    "work:write",
    "outcome:read",
    "outcome:write",
    "notification:read",
    "notification:write",
    "layout:read",
    "workflow_definition:read",
    "workflow_task:read",
    "workflow_task:write",
    "workflow_run:read",
    "workflow_run:write",
    "workflow_stream:read",
    "workflow_stream:write",
    "connector_action:read",
    "connector_action:execute",
    "experiment:read",
    "experiment:assign",
    "experiment:score",
    "entitlement:read",
    "explanation:read",
    "usage:write",
    "evidence:read",
    "evidence:run",
  ],
  secret_manager: [...signedIn, "secret:*"],
  config_manager: [...signedIn, "config:*"],
  notification_admin: [...signedIn, "notification:*", "layout:*"],
  workflow_approver: [...signedIn, "workflow_run:read", "workflow_run:approve"],
  promotion_approver: [...signedIn, "promotion:read", "promotion:approve", "evidence:read"],
  promotion_waiver: [...signedIn, "promotion:read", "promotion:waive"],
};

/** Roles that operations require by name, in addition to scopes. */
const rolesRequiredByName = new Set(["admin"]);

/** The permissions of the caller that grants a role. */
interface Granter {
  readonly roles: readonly string[];
  readonly scopes: ReadonlySet<string>;
}

/** Resources that `*:read` does not cover. */
const guardedResources = new Set(["secret"]);

/** All scopes that roles and directly assigned scopes grant together. */
export function grantedScopes(roles: readonly string[], scopes: readonly string[]): ReadonlySet<string> {
  const granted = new Set(scopes);
  for (const role of roles)
    if (Object.hasOwn(roleGrants, role)) for (const scope of roleGrants[role]!) granted.add(scope);
  return granted;
}

/** Whether granted scopes cover a required one; a required `pool:*` is covered by `pool:*` or `*:*` only. */
export function covers(granted: ReadonlySet<string>, wanted: string): boolean {
  if (granted.has(wanted) || granted.has("*:*")) return true;
  const at = wanted.indexOf(":");
  const resource = wanted.slice(0, at);
  if (granted.has(`${resource}:*`)) return true;
  return !guardedResources.has(resource) && granted.has(`*${wanted.slice(at)}`);
}

/** The scopes that two sets of scopes both cover. */
export function commonScopes(first: ReadonlySet<string>, second: ReadonlySet<string>): ReadonlySet<string> {
  const common = new Set<string>();
  for (const one of first) {
    for (const other of second) {
      const [resource = "", action = ""] = one.split(":");
      const [otherResource = "", otherAction = ""] = other.split(":");
      const scope = `${narrower(resource, otherResource)}:${narrower(action, otherAction)}`;
      if (covers(first, scope) && covers(second, scope)) common.add(scope);
    }
  }
  return common;
}

/** The narrower of two parts of scopes. If they differ, neither scope covers the result. */
function narrower(part: string, other: string): string {
  return part === "*" ? other : part;
}

/** The roles that grant a scope. */
export function rolesWith(scope: string): string[] {
  return Object.keys(roleGrants).filter((role) => covers(new Set(roleGrants[role]), scope));
}

/** The index of the first role that does not exist, or -1 if all exist. */
export function unknownRole(roles: readonly string[]): number {
  return roles.findIndex((role) => !Object.hasOwn(roleGrants, role));
}

/**
 * The first role that exceeds the granter's permissions, or undefined. A role that operations require by name can be granted
 * only by a caller that has the role itself; its scopes are not enough.
 */
export function roleBeyond({ roles: own, scopes }: Granter, roles: readonly string[]): string | undefined {
  return roles.find((role) => {
    if (rolesRequiredByName.has(role) && !own.includes(role)) return true;
    return roleGrants[role]!.some((scope) => !covers(scopes, scope));
  });
}
