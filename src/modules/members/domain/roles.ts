import { covers, roleGrants } from "../../../platform/access/index.ts";

/** The index of the first role that does not exist; -1 when all do. */
export function unknownRole(roles: readonly string[]): number {
  return roles.findIndex((role) => !Object.hasOwn(roleGrants, role));
}

/** The first role that grants more than the scopes of whoever gives it; undefined when none does. */
export function roleBeyond(scopes: ReadonlySet<string>, roles: readonly string[]): string | undefined {
  return roles.find((role) => roleGrants[role]!.some((scope) => !covers(scopes, scope)));
}
