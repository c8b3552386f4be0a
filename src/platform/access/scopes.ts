/** Every scope that can be granted: those that operations require, and the wildcards that cover them. */
export function grantableScopes(needed: Iterable<string>): ReadonlySet<string> {
  const scopes = new Set(["*:*"]);
  for (const scope of needed) {
    const [resource, action] = scope.split(":");
    scopes.add(scope).add(`${resource}:*`).add(`*:${action}`);
  }
  return scopes;
}
