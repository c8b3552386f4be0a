import { type EnvironmentMode, isWithinMode, type Principal } from "./principal.ts";
import { commonScopes, covers, roleBeyond } from "./roles.ts";

/** The permissions that a caller grants to an API key or a member. */
export interface Grant {
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly environmentMode: EnvironmentMode;
  /** Undefined for a grant that does not expire. */
  readonly expiresAt: Date | undefined;
}

/** Why a caller may not give a grant: the first part of it that exceeds the caller's own permissions, or undefined. */
export function beyondCeiling(giver: Principal, grant: Grant): string | undefined {
  const beyond = roleBeyond(giver, grant.roles) ?? grant.scopes.find((scope) => !covers(giver.scopes, scope));
  if (beyond !== undefined) return `${beyond} grants more than the caller has.`;
  if (!isWithinMode(grant.environmentMode, giver.environmentMode)) {
    return `The environment mode ${grant.environmentMode} allows more than the caller's own, ${giver.environmentMode}.`;
  }
  if (giver.expiresAt === undefined || (grant.expiresAt !== undefined && grant.expiresAt <= giver.expiresAt)) {
    return undefined;
  }
  const end = giver.expiresAt.toISOString();
  return `A grant must not outlive the caller's own access: expires_at must be ${end} or earlier.`;
}

/** Limits a caller to a ceiling: what both have. Undefined if they have no environment in common. */
export function limitAccess<P extends Principal>(
  principal: P,
  ceiling: Pick<Principal, "roles" | "scopes" | "environmentMode" | "expiresAt">,
): P | undefined {
  const isInside = isWithinMode(principal.environmentMode, ceiling.environmentMode);
  if (!isInside && !isWithinMode(ceiling.environmentMode, principal.environmentMode)) return undefined;
  const common = {
    ...principal,
    environmentMode: isInside ? principal.environmentMode : ceiling.environmentMode,
    expiresAt: earlierOf(principal.expiresAt, ceiling.expiresAt),
  };
  const isCovered = [...principal.scopes].every((scope) => covers(ceiling.scopes, scope));
  if (isCovered && roleBeyond(ceiling, principal.roles) === undefined) return common;
  const kept = principal.roles.filter((role) => roleBeyond(ceiling, [role]) === undefined);
  const left = ceiling.roles.filter((role) => roleBeyond(principal, [role]) === undefined);
  return { ...common, roles: [...new Set([...kept, ...left])], scopes: commonScopes(principal.scopes, ceiling.scopes) };
}

function earlierOf(first: Date | undefined, second: Date | undefined): Date | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return first < second ? first : second;
}
